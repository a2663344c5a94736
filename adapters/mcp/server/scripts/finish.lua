#!lua
-- Ends a task, once. What comes later is noted and changes nothing.
-- KEYS  1 task  2 alive  3 questions  4 answers  5 messages  6 key (if the task has a submission key)
-- ARGV  1 status  2 status message  3 'result', 'error' or ''  4 payload  5 worker or '': anybody (a cancel)  6 run
--       7 retention of keys, ms  8 how long an ended task is kept at least, ms
-- Reply {'done'} | {'over', status} | {'lost'}: another run took over | {'unknown'}

local task = redis.call('HMGET', KEYS[1], 'status', 'created', 'ttl', 'id', 'worker', 'run')
if not task[1] then return { 'unknown' } end
if is_terminal(task[1]) then
  if redis.call('HGET', KEYS[1], 'late') == '' then redis.call('HSET', KEYS[1], 'late', ARGV[1]) end
  return { 'over', task[1] }
end
if ARGV[5] ~= '' and not runs(KEYS[1], ARGV[5], ARGV[6]) then return { 'lost' } end

local now = clock()
redis.call(
  'HSET', KEYS[1], 'status', ARGV[1], 'message', ARGV[2], 'kind', ARGV[3], 'payload', ARGV[4], 'updated', text(now)
)
redis.call('ZREM', KEYS[2], task[4] .. '|' .. task[5] .. '|' .. task[6])
local gone = later(tonumber(task[2]) + tonumber(task[3]), now + tonumber(ARGV[8]))
for i = 1, 5 do
  if i ~= 2 then redis.call('PEXPIREAT', KEYS[i], text(gone)) end
end
if KEYS[6] then
  redis.call('HSET', KEYS[6], 'status', ARGV[1])
  redis.call('PEXPIREAT', KEYS[6], text(later(gone, now + tonumber(ARGV[7]))))
end
return { 'done' }
