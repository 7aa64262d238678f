-- Every script begins with this. What is done in a script is done at once or, if it fails at its first command, not at
-- all; all times are the server's.
local owners, tick, changes, ids, ends, reserved, trash, marks, calls, stops = unpack(KEYS, 1, 10)
local owner, lifetime = ARGV[1], tonumber(ARGV[2])
local seconds, microseconds = unpack(redis.call('TIME'))
local now = seconds * 1000 + math.floor(microseconds / 1000)

-- Lua would write large numbers with an exponent.
local function text(number)
  return string.format('%.0f', number)
end

-- Lets a key live for at least so long from now on.
local function keep(key, milliseconds)
  if redis.call('PTTL', key) < milliseconds then
    redis.call('PEXPIRE', key, text(milliseconds))
  end
end

-- Returns a number that is higher than all before it, even if the clock of the server was set back.
local function next_number()
  local last = tonumber(redis.call('GET', tick) or '0')
  local number = text(math.max(seconds * 1000000 + microseconds, last + 1))
  redis.call('SET', tick, number, 'PX', text(math.max(lifetime, 86400000)))
  return number
end

local function note_owner()
  redis.call('ZADD', owners, 'GT', text(now + lifetime), owner)
  keep(owners, lifetime)
end

-- Lets a conversation live from now on for its whole lifetime.
local function renew(conversation, id)
  local ending = text(now + lifetime)
  redis.call('PEXPIREAT', conversation, ending)
  redis.call('ZADD', ends, ending, id)
  keep(ids, lifetime)
  keep(ends, lifetime)
  keep(changes, lifetime)
  note_owner()
end

-- Lists a conversation that was added, or no longer lists one that was taken away.
local function list(id, version)
  redis.call('ZADD', ids, version, id)
  redis.call('SET', changes, version)
end

local function unlist(id)
  redis.call('ZREM', ids, id)
  redis.call('ZREM', ends, id)
  redis.call('SET', changes, next_number())
  keep(changes, lifetime)
end

-- No longer lists the conversations whose time is over; the server itself has removed them.
local function drop_ended()
  local over = redis.call('ZRANGEBYSCORE', ends, '-inf', text(now))
  for _, id in ipairs(over) do
    redis.call('ZREM', ids, id)
    redis.call('ZREM', ends, id)
  end
end

-- Takes a lease that nobody has or whose holder let it lapse; returns its fence, or false.
local function take_lease(lease, milliseconds)
  local lapses = redis.call('HGET', lease, 'until')
  if lapses and tonumber(lapses) > now then
    return false
  end
  local fence = next_number()
  redis.call('HSET', lease, 'fence', fence, 'until', text(now + milliseconds))
  redis.call('PEXPIRE', lease, '86400000')
  return fence
end

-- Returns what was noted under a field, unless it was noted before that time of the program.
local function noted_since(hash, field, oldest)
  local value = redis.call('HGET', hash, field)
  if value and cjson.decode(value).notedAt >= oldest then
    return value
  end
  return false
end
