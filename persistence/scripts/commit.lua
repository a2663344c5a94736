#!lua
-- Compare-and-set on the revision. The owner of the lease keeps it, unless it gives it back; a step by anybody else
-- leaves the lease alone and makes the record due when it says, so that the owner picks the step up.
-- KEYS  1..5 of a step  6 switches; where the outcome was unknown before the step, or is after it:
--       7 where it is not marked as unknown any more  8 where it is from now on
-- ARGV  1..9 of a step  10 expected revision  11 who makes the step as owner or ''  12 '1': give the lease back
--       13 adapter under which the step lets something be created, or ''  14.. payloads
--       Its sender says what it means to do with a record of an older history.
-- Reply {'committed', revision} | {'missing'} | {'conflict', revision} | {'scope', scope of the record} | {'older-history'}
--       | {'epoch-over', epoch of the partition} | {'creation-off'} | {'switched-off', state of the adapter}

local r = opened(KEYS[1])
if not r then return { 'missing' } end
local done = revision_of(r, ARGV[3])
if done then return { 'committed', done } end

if r.rev ~= ARGV[10] then return { 'conflict', r.rev } end
if r.scope ~= ARGV[5] then return { 'scope', r.scope } end
if of_older_history(r.hep) then return { 'older-history' } end

if ARGV[13] ~= '' then
  local refused = not_to_be_created(KEYS[6], ARGV[9], ARGV[13])
  if refused then return refused end
end

local revision = text(number(r.rev) + 1)
local owner = ARGV[11] ~= '' and r.own == ARGV[11]
local keep = owner and ARGV[12] ~= '1'
local score = keep and r.unt or ARGV[6]

if owner and not keep then r.own, r.unt = '', '' end
write_step(r, revision, 14)
enter_due(ARGV[6], score)
if KEYS[7] then redis.call('ZREM', KEYS[7], ARGV[2]) end
if KEYS[8] and not redis.call('ZSCORE', KEYS[8], ARGV[2]) then
  redis.call('ZADD', KEYS[8], text(clock()), ARGV[2])
end
return { 'committed', revision }
