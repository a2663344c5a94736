#!lua flags=no-writes
-- KEYS  1 scopes of processes
-- ARGV  1 now
-- Reply {scope, ...}

return redis.call('HKEYS', KEYS[1])
