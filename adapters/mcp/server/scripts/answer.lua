#!lua
-- Answers a question, once.
-- KEYS  1 task  2 questions  3 answers
-- ARGV  1 the question's key  2 answer
-- Reply {'taken'} | {'already'} | {'unasked'} | {'over', status} | {'unknown'}

local status = redis.call('HGET', KEYS[1], 'status')
if not status then return { 'unknown' } end
if is_terminal(status) then return { 'over', status } end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then return { 'unasked' } end
if redis.call('HSETNX', KEYS[3], ARGV[1], ARGV[2]) == 0 then return { 'already' } end
if redis.call('HLEN', KEYS[3]) == redis.call('HLEN', KEYS[2]) then redis.call('HSET', KEYS[1], 'status', 'working') end
redis.call('HSET', KEYS[1], 'updated', text(clock()))
return { 'taken' }
