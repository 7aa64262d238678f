-- Renews a lease that is still its holder's, even if it has lapsed, and with a turn the life of its conversation.
local lease, conversation = KEYS[11], KEYS[12]
local fence, milliseconds, id = ARGV[3], tonumber(ARGV[4]), ARGV[5]
if redis.call('HGET', lease, 'fence') ~= fence then
  return 0
end
redis.call('HSET', lease, 'until', text(now + milliseconds))
redis.call('PEXPIRE', lease, '86400000')
if conversation and redis.call('HEXISTS', conversation, 'body') == 1 then
  renew(conversation, id)
end
return 1
