#!lua
-- Gives a lease back and sets the due time. Where somebody else made a step meanwhile, that step's due time stands.
-- KEYS  1 op  2 due of its scope
-- ARGV  1 now  2 operation id  3 owner  4 lease epoch  5 due at or ''  6 the revision that the owner saw
-- Reply {'released'} | {'lost'}

local r = opened(KEYS[1])
if not r or r.own ~= ARGV[3] or r.lep ~= ARGV[4] then return { 'lost' } end

if r.rev == ARGV[6] then r.due = ARGV[5] end
r.own, r.unt = '', ''
put_lease(KEYS[1], r)
if r.due == '' then
  redis.call('ZREM', KEYS[2], ARGV[2])
else
  redis.call('ZADD', KEYS[2], r.due, ARGV[2])
end
return { 'released' }
