local heard = {}
for place = 4, #ARGV do
  heard[place - 3] = noted_since(stops, ARGV[place], tonumber(ARGV[3]))
  redis.call('HDEL', stops, ARGV[place])
end
return heard
