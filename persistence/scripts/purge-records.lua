#!lua
-- Purges some records with all that belongs to them, if they are over, were consumed, and that long enough ago; each leaves
-- a tombstone. A repetition finds nothing to do.
-- KEYS  1 index of operations  2 settled  3 kept  4 receipts  5 ready rows  6 consumed marks  7 tombstones
--       8.. record, history and payloads of each
-- ARGV  1 now  2 age ms  3 '1': only look  4.. their ids
-- Reply {bytes, or why it stays: 'young' | 'open' | 'unconsumed' | 'unreceipted'} each

local now = clock()

local function reason_to_stay(r, id)
  local settled = redis.call('ZSCORE', KEYS[2], id)
  if not settled or number(settled) > now - number(ARGV[2]) then return 'young' end
  if not r or r.rid == '' then return 'open' end
  if redis.call('HGET', KEYS[5], id) or not redis.call('HGET', KEYS[6], id) then return 'unconsumed' end
  if not redis.call('HGET', KEYS[4], id) then return 'unreceipted' end
  return nil
end

local function size(key)
  local bytes = 0
  for _, field in ipairs(redis.call('HKEYS', key)) do
    bytes = bytes + #field + redis.call('HSTRLEN', key, field)
  end
  return bytes
end

local function purge(first, r, id)
  local settled = redis.call('ZSCORE', KEYS[2], id)
  local digest, state = string.match(r.rid, '^%S+ (%S*) (%S*)$')
  if r.old then
    digest = redis.call('HGET', KEYS[first], 'requestDigest')
    state = redis.call('HGET', KEYS[first], 'terminalState')
  end
  local receipt_digest = string.sub(redis.call('HGET', KEYS[6], id), 1, 64)
  redis.call('HSET', KEYS[7], id, table.concat({ settled, text(now), digest, state, receipt_digest, '-' }, ' '))
  for key = first, first + 2 do
    redis.call('UNLINK', KEYS[key])
  end
  redis.call('ZREM', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
  redis.call('ZADD', KEYS[3], settled, id)
end

local reply = {}
for i = 4, #ARGV do
  local first = 8 + (i - 4) * 3
  local r = opened(KEYS[first])
  local stays = reason_to_stay(r, ARGV[i])
  reply[#reply + 1] = stays or text((r.old and size(KEYS[first]) or r.bytes) + size(KEYS[first + 1]) + size(KEYS[first + 2]))
  if not stays and ARGV[3] ~= '1' then purge(first, r, ARGV[i]) end
end
return reply
