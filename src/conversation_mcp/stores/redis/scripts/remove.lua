local conversation, trashed, id, name = KEYS[11], KEYS[12], ARGV[3], ARGV[4]
local mark = redis.call('HGET', trashed, 'mark')
if mark then
  redis.call('ZADD', marks, text(now + lifetime), mark)
  keep(marks, lifetime)
end
redis.call('DEL', trashed)
redis.call('ZREM', trash, name)
if redis.call('HEXISTS', conversation, 'body') == 1 then
  return
end
redis.call('HDEL', stops, id)
for _, key in ipairs(redis.call('HKEYS', calls)) do
  if cjson.decode(redis.call('HGET', calls, key)).conversationId == id then
    redis.call('HDEL', calls, key)
  end
end
