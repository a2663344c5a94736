#!lua
-- Leases ready rows of one partition to a consumer. The last lease of a consumer is kept, to answer a repetition alike.
-- KEYS  1 ready rows  2 ready queue  3 consumers' leases  4 consumers' last lease  5 receipts
--       6 being delivered
-- ARGV  1 now  2 token  3 consumer  4 limit  5 lease ms
-- Reply {operation id, receipt, ...}

local lease = ARGV[3] .. ' ' .. ARGV[2]
local reply = {}

local last = redis.call('HGET', KEYS[4], ARGV[3])
if last and string.sub(last, 1, #ARGV[2]) == ARGV[2] then
  for id in string.gmatch(string.sub(last, #ARGV[2] + 1), '%S+') do
    if redis.call('HGET', KEYS[3], id) == lease then
      reply[#reply + 1] = id
      reply[#reply + 1] = redis.call('HGET', KEYS[5], id)
    end
  end
  return reply
end

local now = clock()
local lease_end = text(now + number(ARGV[5]))
local leased = ARGV[2]
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', text(now), 'LIMIT', '0', ARGV[4])) do
  local receipt = redis.call('HGET', KEYS[5], id)
  -- A row without a receipt is a finding of the audit, never something to consume.
  if receipt and redis.call('HGET', KEYS[1], id) then
    redis.call('HSET', KEYS[3], id, lease)
    -- Since when it waits is in the queue until it is first leased, and here afterwards.
    if not redis.call('ZSCORE', KEYS[6], id) then
      redis.call('ZADD', KEYS[6], redis.call('ZSCORE', KEYS[2], id), id)
    end
    reply[#reply + 1] = id
    reply[#reply + 1] = receipt
    leased = leased .. ' ' .. id
  end
  redis.call('ZADD', KEYS[2], lease_end, id)
end
if #reply > 0 then
  redis.call('HSET', KEYS[4], ARGV[3], leased)
else
  redis.call('HDEL', KEYS[4], ARGV[3])
end
return reply
