#!lua flags=no-writes
-- The operations that a partition knows as accepted, in any way.
-- KEYS  1 ready queue  2.. hashes by operation: receipts, ready rows, consumed marks, tombstones
-- ARGV  1 now
-- Reply {operation id, ...}, with repetitions

local reply = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '+inf')
for i = 2, #KEYS do
  for _, id in ipairs(redis.call('HKEYS', KEYS[i])) do
    reply[#reply + 1] = id
  end
end
return reply
