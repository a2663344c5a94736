#!lua
-- Purges old receipts, whose records were purged before, with their consumed marks. The tombstones stay, and say so.
-- KEYS  1 kept  2 gone  3 receipts  4 consumed marks  5 tombstones
-- ARGV  1 now  2 age ms  3 '1': only look  4 offset  5 limit
-- Reply {how many, bytes}

local now = clock()
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now - number(ARGV[2])), 'WITHSCORES', 'LIMIT', ARGV[4], ARGV[5])
local bytes = 0
for i = 1, #old, 2 do
  local id = old[i]
  bytes = bytes + redis.call('HSTRLEN', KEYS[3], id) + redis.call('HSTRLEN', KEYS[4], id)
  if ARGV[3] ~= '1' then
    local tombstone = redis.call('HGET', KEYS[5], id)
    redis.call('HSET', KEYS[5], id, string.sub(tombstone, 1, -2) .. text(now))
    redis.call('HDEL', KEYS[3], id)
    redis.call('HDEL', KEYS[4], id)
    redis.call('ZREM', KEYS[1], id)
    redis.call('ZADD', KEYS[2], old[i + 1], id)
  end
end
return { text(#old / 2), text(bytes) }
