local lapses = redis.call('HGET', KEYS[11], 'until')
return lapses and tonumber(lapses) > now and 1 or 0
