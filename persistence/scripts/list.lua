#!lua flags=no-writes
-- One page of the operations of a partition, oldest first.
-- KEYS  1 index of operations
-- ARGV  1 now  2 offset  3 limit
-- Reply {operation id, ...}

return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '+inf', 'LIMIT', ARGV[2], ARGV[3])
