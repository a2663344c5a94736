#!lua flags=no-writes
-- The processes that are alive.
-- KEYS  1 processes
-- ARGV  1 now
-- Reply {process id, ...}

return redis.call('ZRANGEBYSCORE', KEYS[1], text(clock() + 1), '+inf')
