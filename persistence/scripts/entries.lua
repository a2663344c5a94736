#!lua flags=no-writes
-- A whole hash.
-- KEYS  1 hash
-- ARGV  1 now
-- Reply {field, value, ...}

return redis.call('HGETALL', KEYS[1])
