local value = noted_since(stops, ARGV[3], tonumber(ARGV[4]))
redis.call('HDEL', stops, ARGV[3])
return value
