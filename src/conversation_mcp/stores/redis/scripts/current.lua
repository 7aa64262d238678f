-- Returns the members of a sorted set whose time is not over, and drops the others.
redis.call('ZREMRANGEBYSCORE', KEYS[11], '-inf', text(now))
return redis.call('ZRANGE', KEYS[11], 0, -1)
