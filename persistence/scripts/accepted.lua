#!lua flags=no-writes
-- The operations that a partition knows as accepted, in any way.
-- KEYS  1 receipts  2 ready rows  3 consumed marks  4 ready queue
-- ARGV  1 now
-- Reply {operation id, ...}, with repetitions

local reply = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', '+inf')
for i = 1, 3 do
  for _, id in ipairs(redis.call('HKEYS', KEYS[i])) do
    reply[#reply + 1] = id
  end
end
return reply
