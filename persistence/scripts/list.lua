#!lua flags=no-writes
-- One page of the operations of a partition, from behind a place: what goes meanwhile shifts nothing.
-- KEYS  1 index of operations
-- ARGV  1 now  2 score of the place, or where there is none '-inf' ('+inf')  3 operation at the place, or ''  4 limit
--       5 '': the oldest first; 'newest': the newest first
-- Reply {operation id, score, ...}

local newest = ARGV[5] == 'newest'
local seen = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[2], ARGV[2])) do
  if id == ARGV[3] or (id > ARGV[3]) == newest then seen = seen + 1 end
end
local range, last = 'ZRANGEBYSCORE', '+inf'
if newest then
  range, last = 'ZREVRANGEBYSCORE', '-inf'
end
return redis.call(range, KEYS[1], ARGV[2], last, 'WITHSCORES', 'LIMIT', text(seen), ARGV[4])
