#!lua
-- Gives a lease back and sets the due time. Where somebody else made a step meanwhile, that step's due time stands.
-- KEYS  1 op  2 due of its scope
-- ARGV  1 now  2 operation id  3 owner  4 lease epoch  5 due at or ''  6 the revision that the owner saw
-- Reply {'released'} | {'lost'}

local held = redis.call('HMGET', KEYS[1], 'own', 'lep', 'unt', 'rev', 'due')
if held[1] ~= ARGV[3] or held[2] ~= ARGV[4] then return { 'lost' } end

local due = ARGV[5]
if held[4] ~= ARGV[6] then due = held[5] end

redis.call('HSET', KEYS[1], 'own', '', 'unt', '', 'due', due)
if due == '' then
  redis.call('ZREM', KEYS[2], ARGV[2])
else
  redis.call('ZADD', KEYS[2], due, ARGV[2])
end
return { 'released' }
