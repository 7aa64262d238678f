-- Adds fields to a conversation, reserved ones too; those that are there stay unless they are to be replaced.
local conversation, command = KEYS[11], ARGV[3]
if redis.call('EXISTS', conversation) == 0 then
  return 'gone'
end
for number = 4, #ARGV, 2 do
  redis.call(command, conversation, ARGV[number], ARGV[number + 1])
end
return 'done'
