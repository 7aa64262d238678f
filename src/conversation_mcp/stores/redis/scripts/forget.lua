local value = redis.call('HGET', calls, ARGV[3])
if value then
  local call = cjson.decode(value)
  if call.conversationId == ARGV[4] and call.startedAt == ARGV[5] then
    redis.call('HDEL', calls, ARGV[3])
  end
end
