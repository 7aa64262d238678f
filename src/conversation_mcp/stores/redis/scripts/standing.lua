drop_ended()
-- Tells how many conversations there are, when one was added or removed last, and when anything was done last.
return {redis.call('ZCARD', ids), redis.call('GET', changes), redis.call('GET', tick)}
