local conversation, trashed, id, name = KEYS[11], KEYS[12], ARGV[3], ARGV[4]
if redis.call('EXISTS', trashed) == 0 then
  return 'gone'
end
if redis.call('EXISTS', conversation) == 1 then
  return 'taken'
end
local version = next_number()
redis.call('RENAME', trashed, conversation)
redis.call('HSET', conversation, 'version', version)
redis.call('ZREM', trash, name)
list(id, version)
renew(conversation, id)
return 'done'
