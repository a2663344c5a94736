#!lua
-- A process says how long it counts as alive and whom it serves; those whose time is over are forgotten.
-- KEYS  1 processes  2 what each serves
-- ARGV  1 now  2 process id  3 ms  4 what it serves
-- Reply {process id, what it serves, ...} of all that are alive

local now = clock()
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now))) do
  redis.call('ZREM', KEYS[1], gone)
  redis.call('HDEL', KEYS[2], gone)
end
redis.call('ZADD', KEYS[1], text(now + number(ARGV[3])), ARGV[2])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])

local alive = {}
for _, process in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '+inf')) do
  alive[#alive + 1] = process
  alive[#alive + 1] = redis.call('HGET', KEYS[2], process) or ''
end
return alive
