local conversation, id = KEYS[11], ARGV[3]
if redis.call('HEXISTS', conversation, 'body') == 0 then
  redis.call('DEL', conversation)
end
redis.call('ZREM', reserved, id)
