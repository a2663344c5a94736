#!lua
-- Leases one due record. While a lease lives, only its owner gets the record (somebody else's step made it due).
-- KEYS  1 op  2 due of its scope  3 switches
-- ARGV  1 now  2 operation id  3 command id  4 owner  5 lease ms  6 execution epoch of the owner
-- Reply {'claimed', record} | {'held', end of the lease} | {'waits'}: not due any more
--       | {'epoch-over', epoch of the partition}

local held = redis.call('HMGET', KEYS[1], 'own', 'unt', 'lep', 'clm')
if not held[3] then return { 'waits' } end
if held[4] == ARGV[3] then return { 'claimed', record(KEYS[1]) } end

local epoch = redis.call('HGET', KEYS[3], 'epoch')
if epoch and number(ARGV[6]) < number(epoch) then return { 'epoch-over', epoch } end

local now = clock()
local score = redis.call('ZSCORE', KEYS[2], ARGV[2])
if not score or number(score) > now then return { 'waits' } end

local leased = held[1] ~= '' and number(held[2]) > now
if leased and held[1] ~= ARGV[4] then return { 'held', held[2] } end

local lease = leased and held[3] or text(number(held[3]) + 1)
local lease_end = text(now + number(ARGV[5]))
redis.call('HSET', KEYS[1], 'own', ARGV[4], 'lep', lease, 'unt', lease_end, 'clm', ARGV[3])
redis.call('ZADD', KEYS[2], lease_end, ARGV[2])
return { 'claimed', record(KEYS[1]) }
