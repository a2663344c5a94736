#!lua
-- The one acceptance point: re-checks what the guards checked, then writes record, receipt and ready row together.
-- In a ledger of shadows no ready row can be made: its receipts advance nothing (R1).
-- KEYS  1..5 of a step  6 receipts  7 ready rows  8 ready queue  9 switches
-- ARGV  1..16 of a step  17 expected revision  18..25 expected fields  26 receipt  27 receipt id  28 receipt digest
--       29.. payloads
-- Reply {'accepted', revision} | {'duplicate', receipt} | {'missing'} | {'conflict', revision}
--       | {'mismatch', field} | {'scope', scope of the record}

local done = revision_of(KEYS[1], ARGV[3])
if done then return { 'accepted', done } end

local receipt = redis.call('HGET', KEYS[6], ARGV[2])
if receipt then return { 'duplicate', receipt } end

local held = redis.call('HMGET', KEYS[1], 'rev', 'scope')
if not held[1] then return { 'missing' } end
if held[1] ~= ARGV[17] then return { 'conflict', held[1] } end
for i, field in ipairs(step_fields) do
  if redis.call('HGET', KEYS[1], field) ~= ARGV[17 + i] then return { 'mismatch', field } end
end
if held[2] ~= ARGV[6] then return { 'scope', held[2] } end

local revision = text(number(held[1]) + 1)
local now = text(clock())

write_step(revision, '', 29)
enter_due('', '')
redis.call('HSET', KEYS[1], 'own', '', 'unt', '', 'rid', ARGV[27])
redis.call('HSET', KEYS[6], ARGV[2], ARGV[26])
if redis.call('HGET', KEYS[9], 'kind') ~= 'shadow' then
  redis.call('HSET', KEYS[7], ARGV[2], ARGV[28])
  redis.call('ZADD', KEYS[8], now, ARGV[2])
end
return { 'accepted', revision }
