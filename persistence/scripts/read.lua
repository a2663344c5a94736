#!lua flags=no-writes
-- One field of a hash.
-- KEYS  1 hash
-- ARGV  1 now  2 field
-- Reply text | nil

return redis.call('HGET', KEYS[1], ARGV[2])
