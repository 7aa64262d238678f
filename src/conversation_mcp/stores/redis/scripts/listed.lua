drop_ended()
return redis.call('ZRANGE', ids, 0, -1, 'WITHSCORES')
