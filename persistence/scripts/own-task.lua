#!lua
-- First come, first served.
-- KEYS  1 tasks of an endpoint
-- ARGV  1 now  2.. task id, operation id, task id, operation id, ...
-- Reply of each the operation whose task it is

local owners = {}
for i = 2, #ARGV, 2 do
  local owner = redis.call('HGET', KEYS[1], ARGV[i])
  if not owner then
    owner = ARGV[i + 1]
    redis.call('HSET', KEYS[1], ARGV[i], owner)
  end
  owners[#owners + 1] = owner
end
return owners
