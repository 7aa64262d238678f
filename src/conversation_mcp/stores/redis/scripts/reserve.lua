local conversation, id, changed = KEYS[11], ARGV[3], ARGV[4]
if redis.call('EXISTS', conversation) == 1 then
  return 0
end
redis.call('HSET', conversation, 'changed', changed)
redis.call('PEXPIRE', conversation, text(math.max(lifetime, 3600000)))
redis.call('ZADD', reserved, changed, id)
keep(reserved, math.max(lifetime, 3600000))
note_owner()
return 1
