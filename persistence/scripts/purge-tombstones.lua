#!lua
-- Purges old tombstones, whose receipts were purged before: their call nodes are as if they had never been.
-- KEYS  1 gone  2 tombstones
-- ARGV  1 now  2 age ms  3 '1': only look  4 offset  5 limit
-- Reply {how many, bytes}

local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(clock() - number(ARGV[2])), 'LIMIT', ARGV[4], ARGV[5])
local bytes = 0
for _, id in ipairs(old) do
  bytes = bytes + redis.call('HSTRLEN', KEYS[2], id)
  if ARGV[3] ~= '1' then
    redis.call('HDEL', KEYS[2], id)
    redis.call('ZREM', KEYS[1], id)
  end
end
return { text(#old), text(bytes) }
