#!lua
-- Renews the heartbeat of runs.
-- KEYS  1 alive
-- ARGV  1 heartbeat ms  2.. runs
-- Reply those that are not theirs any more: ended, or taken over

local lost = {}
local till = text(clock() + tonumber(ARGV[1]))
for i = 2, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    redis.call('ZADD', KEYS[1], till, ARGV[i])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost
