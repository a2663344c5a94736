#!lua
-- Creates the record of a call node, or answers with the one that is there.
-- KEYS  1..5 of a step  6 index of operations  7 switches  8 tombstones  9 sides
-- ARGV  1..9 of a step  10 owner of the first lease or ''  11 its length in ms  12 adapter that must be active or ''
--       13.. payloads
-- Reply {'created' | 'exists', record} | {'purged', tombstone} | {'other-side', side that the call node took}
--       | {'epoch-over', epoch of the partition} | {'creation-off'} | {'switched-off', state of the adapter}

local found = opened(KEYS[1])
if found then
  local mine = revision_of(found, ARGV[3]) == '1'
  return { mine and 'created' or 'exists', record(found) }
end

local tombstone = redis.call('HGET', KEYS[8], ARGV[2])
if tombstone then return { 'purged', tombstone } end

local side = redis.call('HGET', KEYS[9], ARGV[2])
if side and side_in(side) ~= 'operation' then return { 'other-side', side_in(side) } end

local refused = not_to_be_created(KEYS[7], ARGV[9], ARGV[12])
if refused then return refused end

local now = clock()
local due = ARGV[6]
local leased = ARGV[10] ~= ''
local lease_end = leased and text(now + number(ARGV[11])) or ''

local made = {
  own = ARGV[10], lep = leased and '1' or '0', unt = lease_end, hep = '', rid = '', cmds = '', tail = '', inline = '',
}
write_step(made, '1', 13)
redis.call('ZADD', KEYS[6], text(now), ARGV[2])
enter_due(due, leased and lease_end or due)
return { 'created', record(made) }
