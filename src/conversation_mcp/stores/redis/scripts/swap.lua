-- Replaces a value that is still what it was when it was read; an empty one is none.
if (redis.call('GET', KEYS[11]) or '') ~= ARGV[3] then
  return 0
end
redis.call('SET', KEYS[11], ARGV[4], 'PX', ARGV[5])
return 1
