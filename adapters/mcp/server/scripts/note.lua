#!lua
-- What a run says of its task while it works. An empty argument leaves its field as it is.
-- KEYS  1 task
-- ARGV  1 worker  2 run  3 status  4 status message  5 ttl ms  6 poll ms
-- Reply {'done'} | {'over', status} | {'lost'} | {'unknown'}

local status = redis.call('HGET', KEYS[1], 'status')
if not status then return { 'unknown' } end
if is_terminal(status) then return { 'over', status } end
if not runs(KEYS[1], ARGV[1], ARGV[2]) then return { 'lost' } end
for i, field in ipairs({ 'status', 'message', 'ttl', 'poll' }) do
  if ARGV[i + 2] ~= '' then redis.call('HSET', KEYS[1], field, ARGV[i + 2]) end
end
redis.call('HSET', KEYS[1], 'updated', text(clock()))
return { 'done' }
