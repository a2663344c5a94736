#!lua
-- First come, first served.
-- KEYS  1 tasks of an endpoint
-- ARGV  1 now  2 task id  3 operation id
-- Reply the operation whose task it is

local owner = redis.call('HGET', KEYS[1], ARGV[2])
if owner then return owner end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return ARGV[3]
