-- Replaces a conversation if it is still the version that the change was made from. A write that was done before, and
-- whose answer was lost, is known by its token.
local conversation, lease = KEYS[11], KEYS[12]
local id, expected, fence, token = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if fence ~= '' and redis.call('HGET', lease, 'fence') ~= fence then
  return 'lost'
end
if redis.call('EXISTS', conversation) == 0 then
  return 'gone'
end
if redis.call('HGET', conversation, 'token') == token then
  return 'done'
end
if (redis.call('HGET', conversation, 'version') or '') ~= expected then
  return 'changed'
end
local version = next_number()
redis.call('HSET', conversation, 'version', version, 'token', token, unpack(ARGV, 7))
if expected == '' then
  redis.call('ZREM', reserved, id)
  list(id, version)
else
  redis.call('ZADD', ids, version, id)
end
renew(conversation, id)
return 'done'
