-- Notes something under a field of a hash of calls or stops.
redis.call('HSET', KEYS[11], ARGV[3], ARGV[4])
keep(KEYS[11], 86400000)
