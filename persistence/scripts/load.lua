#!lua flags=no-writes
-- KEYS  1 op  2 tombstones
-- ARGV  1 now  2 operation id
-- Reply record | {tombstone} | {}

local r = opened(KEYS[1])
if r then return record(r) end
local tombstone = redis.call('HGET', KEYS[2], ARGV[2])
if tombstone then return { tombstone } end
return {}
