#!lua flags=no-writes
-- KEYS  1 op
-- ARGV  1 now
-- Reply record | {}

if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
return record(KEYS[1])
