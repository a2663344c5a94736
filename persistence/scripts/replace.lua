#!lua
-- Replaces a field of a hash, if it is what the asker saw.
-- KEYS  1 hash
-- ARGV  1 now  2 field  3 what it is to be, or '' where it is to be new  4 value
-- Reply what stands there now

local held = redis.call('HGET', KEYS[1], ARGV[2]) or ''
if held ~= ARGV[3] then return held end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
return ARGV[4]
