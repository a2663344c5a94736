#!lua
-- A generic cell rate limiter, in microseconds. Requests that are refused reserve nothing; one that may not be refused (a
-- cancel) takes the next free place, and everybody else waits until after it.
-- KEYS  1 limiter
-- ARGV  1 now  2 microseconds of one request  3 burst  4 how many requests  5 '1': not to be refused
-- Reply {how many may be sent, ms until one more may; of those that may not be refused: until they may}

local now = clock() * 1000
local interval = number(ARGV[2])
local stored = redis.call('HGET', KEYS[1], 'tat')
local arrival = math.max(now, stored and number(stored) or now)
local allowed = arrival + interval - interval * number(ARGV[3])
local wanted = number(ARGV[4])
local given = math.max(0, math.min(wanted, math.floor((now - allowed) / interval) + 1))
local next_one = allowed + interval * given
if ARGV[5] == '1' then
  given, next_one = wanted, allowed
end
if given > 0 then redis.call('HSET', KEYS[1], 'tat', text(arrival + interval * given)) end
return { text(given), text(math.max(0, math.ceil((next_one - now) / 1000))) }
