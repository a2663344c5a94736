#!lua
-- Renews the heartbeat of runs.
-- KEYS  1 alive  2.. the task of each run
-- ARGV  1 heartbeat ms  2.. runs
-- Reply those that have to look at their task: ended, taken over, or wanted cancelled

local look = {}
local till = text(clock() + tonumber(ARGV[1]))
for i = 2, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    redis.call('ZADD', KEYS[1], till, ARGV[i])
    -- The announcement of a wish may have got lost.
    local wish = redis.call('HGET', KEYS[i], 'cancel')
    if wish and wish ~= '' then look[#look + 1] = ARGV[i] end
  else
    look[#look + 1] = ARGV[i]
  end
end
return look
