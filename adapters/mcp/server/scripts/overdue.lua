#!lua flags=no-writes
-- Runs whose heartbeat stopped.
-- KEYS  1 alive
-- ARGV  1 how many at most
-- Reply runs

return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(clock()), 'LIMIT', 0, ARGV[1])
