for _, hash in ipairs({calls, stops}) do
  for _, field in ipairs(redis.call('HKEYS', hash)) do
    if not noted_since(hash, field, tonumber(ARGV[3])) then
      redis.call('HDEL', hash, field)
    end
  end
end
