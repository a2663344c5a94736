#!lua
-- Which scopes of a partition have waiting records; the others are forgotten (a step brings them back).
-- KEYS  1 scopes of processes  2.. due of each scope
-- ARGV  1 now  2.. the scopes
-- Reply {scope, ...}

local waiting = {}
for i = 2, #KEYS do
  if redis.call('ZCARD', KEYS[i]) > 0 then
    waiting[#waiting + 1] = ARGV[i]
  else
    redis.call('HDEL', KEYS[1], ARGV[i])
  end
end
return waiting
