#!lua flags=no-writes
-- What one partition holds about some operations, at one moment.
-- KEYS  1 receipts  2 ready rows  3 ready queue  4 consumed marks  5 tombstones  6.. the operations
-- ARGV  1 now  2.. their ids
-- Reply {receipt id in the record or nil, receipt or nil, digest of the ready row or nil, '1' if queued, consumed mark or nil,
--       tombstone or nil} each

local reply = {}
for i = 2, #ARGV do
  local id = ARGV[i]
  local r = opened(KEYS[i + 4])
  reply[i - 1] = {
    r and string.match(r.rid, '^%S*') or false,
    redis.call('HGET', KEYS[1], id),
    redis.call('HGET', KEYS[2], id),
    redis.call('ZSCORE', KEYS[3], id) and '1' or '',
    redis.call('HGET', KEYS[4], id),
    redis.call('HGET', KEYS[5], id),
  }
end
return reply
