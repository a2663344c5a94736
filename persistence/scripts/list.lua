#!lua flags=no-writes
-- One page of the operations of a partition, oldest first, from behind a place: what goes meanwhile shifts nothing.
-- KEYS  1 index of operations
-- ARGV  1 now  2 score of the place, or '-inf'  3 operation at the place, or ''  4 limit
-- Reply {operation id, score, ...}

local seen = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[2], ARGV[2])) do
  if id <= ARGV[3] then seen = seen + 1 end
end
return redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', text(seen), ARGV[4])
