#!lua
-- Extends a lease that nobody else has taken.
-- KEYS  1 op  2 due of its scope
-- ARGV  1 now  2 operation id  3 owner  4 lease epoch  5 lease ms
-- Reply {'renewed', end of the lease, revision} | {'lost'}

local held = redis.call('HMGET', KEYS[1], 'own', 'lep', 'unt', 'rev')
if held[1] ~= ARGV[3] or held[2] ~= ARGV[4] then return { 'lost' } end

local lease_end = text(clock() + number(ARGV[5]))
local score = redis.call('ZSCORE', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[1], 'unt', lease_end)
-- Another score is somebody else's step, which must stay due.
if score and number(score) == number(held[3]) then redis.call('ZADD', KEYS[2], lease_end, ARGV[2]) end
return { 'renewed', lease_end, held[4] }
