#!lua
-- A run asks a question. A run that took over asks the same questions again and gets the answers that are there.
-- KEYS  1 task  2 questions  3 answers
-- ARGV  1 worker  2 run  3 the question's key  4 question
-- Reply {'asked'} | {'waiting'}: was asked before | {'answered', answer} | {'reused'}: the key was another question's
--       | {'over', status} | {'lost'} | {'unknown'}

local status = redis.call('HGET', KEYS[1], 'status')
if not status then return { 'unknown' } end
if is_terminal(status) then return { 'over', status } end
if not runs(KEYS[1], ARGV[1], ARGV[2]) then return { 'lost' } end

local known = redis.call('HGET', KEYS[2], ARGV[3])
if known and known ~= ARGV[4] then return { 'reused' } end
local answer = redis.call('HGET', KEYS[3], ARGV[3])
if answer then return { 'answered', answer } end
if known then return { 'waiting' } end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
redis.call('HSET', KEYS[1], 'status', 'input_required', 'updated', text(clock()))
return { 'asked' }
