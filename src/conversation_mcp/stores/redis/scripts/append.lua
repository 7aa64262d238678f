-- Adds a line to a list whose last one is still what it was when it was read; an empty one is none.
if (redis.call('LINDEX', KEYS[11], -1) or '') ~= ARGV[3] then
  return 0
end
redis.call('RPUSH', KEYS[11], ARGV[4])
return 1
