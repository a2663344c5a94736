#!lua
-- A process says how long it counts as alive; those whose time is over are forgotten.
-- KEYS  1 processes
-- ARGV  1 now  2 process id  3 ms
-- Reply 1

local now = clock()
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now))) do
  redis.call('ZREM', KEYS[1], gone)
end
redis.call('ZADD', KEYS[1], text(now + number(ARGV[3])), ARGV[2])
return 1
