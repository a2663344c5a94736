#!lua
-- Sets one switch of a partition.
-- KEYS  1 switches
-- ARGV  1 now  2 name  3 value
-- Reply value

redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
raise_history()
return ARGV[3]
