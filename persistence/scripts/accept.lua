#!lua
-- The one acceptance point: re-checks what the guards checked, then writes record, receipt and ready row together.
-- In a ledger of shadows no ready row can be made: its receipts advance nothing (R1).
-- KEYS  1..5 of a step  6 receipts  7 ready rows  8 ready queue  9 switches
-- ARGV  1..9 of a step  10 expected revision  11 digest of the expected fields  12 receipt  13 receipt id  14 receipt digest
--       15 request digest  16 terminal state  17..24 the expected fields, for a record of an older layout  25.. payloads
-- Reply {'accepted', revision} | {'duplicate', receipt} | {'missing'} | {'conflict', revision}
--       | {'mismatch', field, or body of the record} | {'scope', scope of the record}

local r = opened(KEYS[1])
local done = r and revision_of(r, ARGV[3])
if done then return { 'accepted', done } end

local receipt = redis.call('HGET', KEYS[6], ARGV[2])
if receipt then return { 'duplicate', receipt } end

if not r then return { 'missing' } end
if r.rev ~= ARGV[10] then return { 'conflict', r.rev } end
if r.old then
  local names = {
    'callNode', 'requestDigest', 'taskId', 'toolVersion',
    'executionEpoch', 'cancelGeneration', 'terminalState', 'resultDigest',
  }
  for i, name in ipairs(names) do
    if redis.call('HGET', KEYS[1], name) ~= ARGV[16 + i] then return { 'mismatch', name } end
  end
elseif r.fields ~= ARGV[11] then
  return { 'mismatch', r.body }
end
if r.scope ~= ARGV[5] then return { 'scope', r.scope } end

local revision = text(number(r.rev) + 1)
local now = text(clock())

r.own, r.unt, r.rid = '', '', ARGV[13] .. ' ' .. ARGV[15] .. ' ' .. ARGV[16]
write_step(r, revision, 25)
enter_due('', '')
redis.call('HSET', KEYS[6], ARGV[2], ARGV[12])
if redis.call('HGET', KEYS[9], 'kind') ~= 'shadow' then
  redis.call('HSET', KEYS[7], ARGV[2], ARGV[14])
  redis.call('ZADD', KEYS[8], now, ARGV[2])
end
return { 'accepted', revision }
