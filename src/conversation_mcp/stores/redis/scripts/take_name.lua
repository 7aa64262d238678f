local lease, key, milliseconds, oldest, planned = KEYS[11], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local fence, found = take_lease(lease, milliseconds), noted_since(calls, key, oldest)
if fence and not found and planned ~= '' then
  redis.call('HSET', calls, key, planned)
  keep(calls, 86400000)
end
return {fence, found}
