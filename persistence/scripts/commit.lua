#!lua
-- Compare-and-set on the revision. The owner of the lease keeps it, unless it gives it back; a step by anybody else
-- leaves the lease alone and makes the record due when it says, so that the owner picks the step up.
-- KEYS  1..5 of a step  6 switches; where the outcome was unknown before the step, or is after it:
--       7 where it is not marked as unknown any more  8 where it is from now on
-- ARGV  1..16 of a step  17 expected revision  18 who makes the step as owner or ''  19 '1': give the lease back
--       20 adapter under which the step lets something be created, or ''  21.. payloads
--       Its sender says what it means to do with a record of an older history.
-- Reply {'committed', revision} | {'missing'} | {'conflict', revision} | {'scope', scope of the record} | {'older-history'}
--       | {'epoch-over', epoch of the partition} | {'creation-off'} | {'switched-off', state of the adapter}

local done = revision_of(KEYS[1], ARGV[3])
if done then return { 'committed', done } end

local held = redis.call('HMGET', KEYS[1], 'rev', 'scope', 'own', 'unt', 'hep')
if not held[1] then return { 'missing' } end
if held[1] ~= ARGV[17] then return { 'conflict', held[1] } end
if held[2] ~= ARGV[6] then return { 'scope', held[2] } end
if of_older_history(held[5]) then return { 'older-history' } end

if ARGV[20] ~= '' then
  local refused = not_to_be_created(KEYS[6], ARGV[13], ARGV[20])
  if refused then return refused end
end

local revision = text(number(held[1]) + 1)
local owner = ARGV[18] ~= '' and held[3] == ARGV[18]
local keep = owner and ARGV[19] ~= '1'

write_step(revision, ARGV[7], 21)
if owner and not keep then redis.call('HSET', KEYS[1], 'own', '', 'unt', '') end
enter_due(ARGV[7], keep and held[4] or ARGV[7])
if KEYS[7] then redis.call('ZREM', KEYS[7], ARGV[2]) end
if KEYS[8] and not redis.call('ZSCORE', KEYS[8], ARGV[2]) then
  redis.call('ZADD', KEYS[8], text(clock()), ARGV[2])
end
return { 'committed', revision }
