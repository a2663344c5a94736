#!lua
-- Makes a task, and in the same step the mark of its submission key, if the call carries one.
-- KEYS  1 task  2 alive  3 key (with a submission key only)
-- ARGV  1 task id  2 owner  3 tool  4 request  5 ttl ms  6 poll ms  7 worker  8 heartbeat ms  9 '1': may run again
--       10 submission key or ''  11 attempt  12 digest  13 principal
-- Reply {'created', now} | {'exists', task id} | {'closed', through attempt} | {'refused'}: the key is another call's

local now = clock()
if ARGV[10] ~= '' then
  local known = redis.call('HMGET', KEYS[3], 'digest', 'principal', 'owner', 'closed', 'task')
  if known[1] then
    if known[1] ~= ARGV[12] or known[2] ~= ARGV[13] or known[3] ~= ARGV[2] then return { 'refused' } end
    if tonumber(ARGV[11]) <= tonumber(known[4]) then return { 'closed', known[4] } end
    if known[5] ~= '' then return { 'exists', known[5] } end
  end
  redis.call(
    'HSET', KEYS[3], 'task', ARGV[1], 'created', text(now), 'status', 'working', 'digest', ARGV[12],
    'principal', ARGV[13], 'owner', ARGV[2], 'closed', known[4] or '0'
  )
  -- A key outlives its task; how long is known when the task ends.
  redis.call('PERSIST', KEYS[3])
end

redis.call(
  'HSET', KEYS[1], 'id', ARGV[1], 'owner', ARGV[2], 'tool', ARGV[3], 'request', ARGV[4], 'status', 'working',
  'message', '', 'created', text(now), 'updated', text(now), 'ttl', ARGV[5], 'poll', ARGV[6], 'worker', ARGV[7],
  'run', '1', 'resumable', ARGV[9], 'key', ARGV[10], 'cancel', '', 'kind', '', 'payload', '', 'late', ''
)
redis.call('ZADD', KEYS[2], text(now + tonumber(ARGV[8])), ARGV[1] .. '|' .. ARGV[7] .. '|1')
return { 'created', text(now) }
