#!lua
-- Adds a message for whoever reads the task's channel next.
-- KEYS  1 task  2 messages
-- ARGV  1 message  2 how many may wait
-- Reply {'done'} | {'full'} | {'unknown'}

if redis.call('EXISTS', KEYS[1]) == 0 then return { 'unknown' } end
if redis.call('LLEN', KEYS[2]) >= tonumber(ARGV[2]) then return { 'full' } end
redis.call('RPUSH', KEYS[2], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left > 0 then redis.call('PEXPIRE', KEYS[2], text(left)) end
return { 'done' }
