#!lua
-- Takes a task over from a run whose heartbeat stopped. From here on that run counts for nothing.
-- KEYS  1 task  2 alive
-- ARGV  1 the old run  2 worker  3 heartbeat ms
-- Reply {'taken', number of the new run} | {'alive'}: somebody else was faster, or it came back | {'gone'}

local now = clock()
local score = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not score or tonumber(score) > now then return { 'alive' } end
redis.call('ZREM', KEYS[2], ARGV[1])
local task = redis.call('HMGET', KEYS[1], 'status', 'run', 'id')
if not task[1] or is_terminal(task[1]) then return { 'gone' } end
local run = text(tonumber(task[2]) + 1)
redis.call('HSET', KEYS[1], 'worker', ARGV[2], 'run', run, 'updated', text(now))
redis.call('ZADD', KEYS[2], text(now + tonumber(ARGV[3])), task[3] .. '|' .. ARGV[2] .. '|' .. run)
return { 'taken', run }
