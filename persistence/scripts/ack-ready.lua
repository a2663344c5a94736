#!lua
-- Consumes ready rows: each row goes, a mark that names receipt and lease stays, and retention begins to count.
-- KEYS  1 ready rows  2 ready queue  3 consumers' leases  4 consumed marks  5 settled
--       6 being delivered
-- ARGV  1 now  2 consumer  3.. operation id, token, operation id, token, ...
-- Reply of each '1' | '0': the lease is somebody else's by now

local now = text(clock())

local function consume(id, lease)
  local mark = redis.call('HGET', KEYS[4], id)
  if mark then return string.sub(mark, 66) == lease end

  local digest = redis.call('HGET', KEYS[1], id)
  if not digest or redis.call('HGET', KEYS[3], id) ~= lease then return false end

  redis.call('HSET', KEYS[4], id, digest .. ' ' .. lease)
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
  redis.call('HDEL', KEYS[3], id)
  redis.call('ZREM', KEYS[6], id)
  redis.call('ZADD', KEYS[5], now, id)
  raise_history()
  return true
end

local reply = {}
for i = 3, #ARGV, 2 do
  reply[#reply + 1] = consume(ARGV[i], ARGV[2] .. ' ' .. ARGV[i + 1]) and '1' or '0'
end
return reply
