#!lua
-- Notes that somebody wants the task cancelled (where a cancel is cooperative). The first wish counts.
-- KEYS  1 task
-- Reply {'done'} | {'over', status} | {'unknown'}

local status = redis.call('HGET', KEYS[1], 'status')
if not status then return { 'unknown' } end
if is_terminal(status) then return { 'over', status } end
if redis.call('HGET', KEYS[1], 'cancel') == '' then redis.call('HSET', KEYS[1], 'cancel', text(clock())) end
return { 'done' }
