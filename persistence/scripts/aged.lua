#!lua flags=no-writes
-- What stands in an index for long enough, the oldest first.
-- KEYS  1 index
-- ARGV  1 now  2 age ms  3 offset  4 limit
-- Reply {operation id, ...}

return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(clock() - number(ARGV[2])), 'LIMIT', ARGV[3], ARGV[4])
