#!lua
-- Reads what a namespace was made with, or makes it.
-- KEYS  1 meta
-- ARGV  1 now  2 schema  3 partitions  4 kind  5 layout
-- Reply {schema, partitions, kind, layout}; the kind of a namespace that does not say it is ''

local meta = redis.call('HMGET', KEYS[1], 'schema', 'partitions', 'kind', 'layout')
if meta[1] then return { meta[1], meta[2] or '', meta[3] or '', meta[4] or '1' } end

redis.call('HSET', KEYS[1], 'schema', ARGV[2], 'partitions', ARGV[3], 'kind', ARGV[4], 'layout', ARGV[5])
return { ARGV[2], ARGV[3], ARGV[4], ARGV[5] }
