if redis.call('HGET', KEYS[11], 'fence') == ARGV[3] then
  redis.call('DEL', KEYS[11])
end
