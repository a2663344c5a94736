#!lua
-- Creates the record of a call node, or answers with the one that is there.
-- KEYS  1..5 of a step  6 index of operations  7 switches
-- ARGV  1..16 of a step  17 owner of the first lease or ''  18 its length in ms  19 adapter that must be active or ''
--       20.. payloads
-- Reply {'created' | 'exists', record} | {'epoch-over', epoch of the partition} | {'creation-off'}
--       | {'switched-off', state of the adapter}

if redis.call('EXISTS', KEYS[1]) == 1 then
  local mine = revision_of(KEYS[1], ARGV[3]) == '1'
  return { mine and 'created' or 'exists', record(KEYS[1]) }
end

local refused = not_to_be_created(KEYS[7], ARGV[13], ARGV[19])
if refused then return refused end

local now = clock()
local due = ARGV[7]
local leased = ARGV[17] ~= ''
local lease_end = leased and text(now + number(ARGV[18])) or ''

write_step('1', due, 20)
redis.call('HSET', KEYS[1], 'own', ARGV[17], 'lep', leased and '1' or '0', 'unt', lease_end, 'rid', '', 'clm', '')
redis.call('ZADD', KEYS[6], text(now), ARGV[2])
enter_due(due, leased and lease_end or due)
return { 'created', record(KEYS[1]) }
