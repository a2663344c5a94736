#!lua
-- Extends a lease that nobody else has taken.
-- KEYS  1 op  2 due of its scope
-- ARGV  1 now  2 operation id  3 owner  4 lease epoch  5 lease ms
-- Reply {'renewed', end of the lease, revision} | {'lost'}

local r = opened(KEYS[1])
if not r or r.own ~= ARGV[3] or r.lep ~= ARGV[4] then return { 'lost' } end

local lease_end = text(clock() + number(ARGV[5]))
local score = redis.call('ZSCORE', KEYS[2], ARGV[2])
local before = r.unt
r.unt = lease_end
put_lease(KEYS[1], r)
-- Another score is somebody else's step, which must stay due.
if score and number(score) == number(before) then redis.call('ZADD', KEYS[2], lease_end, ARGV[2]) end
return { 'renewed', lease_end, r.rev }
