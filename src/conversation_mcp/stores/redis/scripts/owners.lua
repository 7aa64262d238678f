redis.call('ZREMRANGEBYSCORE', owners, '-inf', text(now))
return redis.call('ZRANGE', owners, 0, -1)
