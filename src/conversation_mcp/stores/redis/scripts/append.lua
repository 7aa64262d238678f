-- Adds a line to a list whose last one is still what it was when it was read, and takes so many of the oldest away; an
-- empty one is none.
if (redis.call('LINDEX', KEYS[11], -1) or '') ~= ARGV[3] then
  return 0
end
redis.call('RPUSH', KEYS[11], ARGV[4])
redis.call('LTRIM', KEYS[11], ARGV[5], -1)
return 1
