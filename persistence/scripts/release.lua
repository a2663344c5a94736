#!lua
-- Gives a lease back and sets the due time. A step that somebody else made meanwhile keeps its earlier due time.
-- KEYS  1 op  2 due of its scope
-- ARGV  1 now  2 operation id  3 owner  4 lease epoch  5 due at or ''
-- Reply {'released'} | {'lost'}

local held = redis.call('HMGET', KEYS[1], 'own', 'lep', 'unt')
if held[1] ~= ARGV[3] or held[2] ~= ARGV[4] then return { 'lost' } end

local due = ARGV[5]
local score = redis.call('ZSCORE', KEYS[2], ARGV[2])
local moved = score and number(score) ~= number(held[3])
if moved and (due == '' or number(score) < number(due)) then due = text(number(score)) end

redis.call('HSET', KEYS[1], 'own', '', 'unt', '', 'due', due)
if due == '' then
  redis.call('ZREM', KEYS[2], ARGV[2])
else
  redis.call('ZADD', KEYS[2], due, ARGV[2])
end
return { 'released' }
