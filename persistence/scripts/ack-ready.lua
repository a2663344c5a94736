#!lua
-- Consumes a ready row: the row goes, a mark that names receipt and lease stays, and retention begins to count.
-- KEYS  1 ready rows  2 ready queue  3 consumers' leases  4 consumed marks  5 settled
--       6 being delivered
-- ARGV  1 now  2 operation id  3 token  4 consumer
-- Reply 1 | 0: the lease is somebody else's by now

local lease = ARGV[4] .. ' ' .. ARGV[3]
local mark = redis.call('HGET', KEYS[4], ARGV[2])
if mark then return string.sub(mark, 66) == lease and 1 or 0 end

local digest = redis.call('HGET', KEYS[1], ARGV[2])
if not digest or redis.call('HGET', KEYS[3], ARGV[2]) ~= lease then return 0 end

redis.call('HSET', KEYS[4], ARGV[2], digest .. ' ' .. lease)
redis.call('HDEL', KEYS[1], ARGV[2])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('HDEL', KEYS[3], ARGV[2])
redis.call('ZREM', KEYS[6], ARGV[2])
redis.call('ZADD', KEYS[5], text(clock()), ARGV[2])
raise_history()
return 1
