#!lua
-- Creates the record of a call node, or answers with the one that is there.
-- KEYS  1..5 of a step  6 index of operations  7 switches  8 tombstones  9 sides
-- ARGV  1..16 of a step  17 owner of the first lease or ''  18 its length in ms  19 adapter that must be active or ''
--       20.. payloads
-- Reply {'created' | 'exists', record} | {'purged', tombstone} | {'other-side', side that the call node took}
--       | {'epoch-over', epoch of the partition} | {'creation-off'} | {'switched-off', state of the adapter}

if redis.call('EXISTS', KEYS[1]) == 1 then
  local mine = revision_of(KEYS[1], ARGV[3]) == '1'
  return { mine and 'created' or 'exists', record(KEYS[1]) }
end

local tombstone = redis.call('HGET', KEYS[8], ARGV[2])
if tombstone then return { 'purged', tombstone } end

local side = redis.call('HGET', KEYS[9], ARGV[2])
if side and side_in(side) ~= 'operation' then return { 'other-side', side_in(side) } end

local refused = not_to_be_created(KEYS[7], ARGV[13], ARGV[19])
if refused then return refused end

local now = clock()
local due = ARGV[7]
local leased = ARGV[17] ~= ''
local lease_end = leased and text(now + number(ARGV[18])) or ''

write_step('1', due, 20)
redis.call('HSET', KEYS[1], 'own', ARGV[17], 'lep', leased and '1' or '0', 'unt', lease_end, 'rid', '')
redis.call('ZADD', KEYS[6], text(now), ARGV[2])
enter_due(due, leased and lease_end or due)
return { 'created', record(KEYS[1]) }
