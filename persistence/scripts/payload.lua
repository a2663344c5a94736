#!lua flags=no-writes
-- A payload of an operation, wherever it stands.
-- KEYS  1 op  2 payloads
-- ARGV  1 now  2 tag  3 digest
-- Reply text or packed text | nil

local r = opened(KEYS[1])
local entries = entries_in(r and r.inline or '')
for i = 1, #entries, 2 do
  if entries[i] == ARGV[2] then return entries[i + 1] end
end
return redis.call('HGET', KEYS[2], ARGV[3])
