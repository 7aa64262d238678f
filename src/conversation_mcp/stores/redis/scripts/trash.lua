local conversation, trashed, id, name = KEYS[11], KEYS[12], ARGV[3], ARGV[4]
if redis.call('HEXISTS', conversation, 'body') == 0 then
  return 'gone'
end
if redis.call('EXISTS', trashed) == 1 then
  return 'taken'
end
redis.call('RENAME', conversation, trashed)
redis.call('PEXPIRE', trashed, text(lifetime))
redis.call('ZADD', trash, text(now + lifetime), name)
keep(trash, lifetime)
unlist(id)
return 'done'
