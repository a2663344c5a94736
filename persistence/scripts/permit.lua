#!lua
-- A generic cell rate limiter, in microseconds. A refused request reserves nothing.
-- KEYS  1 limiter
-- ARGV  1 now  2 microseconds of one request  3 burst
-- Reply ms to wait, '0': send now

local now = clock() * 1000
local interval = number(ARGV[2])
local stored = redis.call('HGET', KEYS[1], 'tat')
local arrival = math.max(now, stored and number(stored) or now)
local allowed = arrival + interval - interval * number(ARGV[3])
if allowed > now then return text(math.ceil((allowed - now) / 1000)) end
redis.call('HSET', KEYS[1], 'tat', text(arrival + interval))
return '0'
