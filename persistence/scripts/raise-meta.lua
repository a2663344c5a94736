#!lua
-- Raises a number of the namespace. It never goes back.
-- KEYS  1 meta
-- ARGV  1 now  2 name  3 number
-- Reply the number that holds

local held = redis.call('HGET', KEYS[1], ARGV[2])
if held and number(held) > number(ARGV[3]) then return held end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return ARGV[3]
