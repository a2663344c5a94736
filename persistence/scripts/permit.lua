#!lua
-- A generic cell rate limiter, in microseconds. A refused request reserves nothing; one that may not be refused (a cancel)
-- takes the next free place, and everybody else waits until after it.
-- KEYS  1 limiter
-- ARGV  1 now  2 microseconds of one request  3 burst  4 '1': not to be refused
-- Reply ms to wait, '0': send now

local now = clock() * 1000
local interval = number(ARGV[2])
local stored = redis.call('HGET', KEYS[1], 'tat')
local arrival = math.max(now, stored and number(stored) or now)
local allowed = arrival + interval - interval * number(ARGV[3])
local refused = allowed > now
if not refused or ARGV[4] == '1' then redis.call('HSET', KEYS[1], 'tat', text(arrival + interval)) end
return refused and text(math.ceil((allowed - now) / 1000)) or '0'
