local lease, conversation = KEYS[11], KEYS[12]
if conversation and redis.call('EXISTS', conversation) == 0 then
  return 'gone'
end
return take_lease(lease, tonumber(ARGV[3]))
