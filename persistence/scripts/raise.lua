#!lua
-- Raises the execution epoch of a partition. It never goes back.
-- KEYS  1 switches
-- ARGV  1 now  2 epoch
-- Reply the epoch of the partition

local epoch = redis.call('HGET', KEYS[1], 'epoch')
if epoch and number(epoch) > number(ARGV[2]) then return epoch end
redis.call('HSET', KEYS[1], 'epoch', ARGV[2])
raise_history()
return ARGV[2]
