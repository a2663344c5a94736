-- The loader puts this between the first line of every script and its body. Times are milliseconds of the Redis server.
--
-- A task is a hash: id owner tool request status message created updated ttl poll worker run resumable key cancel kind
-- payload late. Its questions and their answers are two hashes by the question's key. A submission key is a hash: task
-- created status digest principal owner closed. `alive` is a sorted set of runs ('task|worker|run') by the end of their
-- heartbeat.

local function text(value)
  return string.format('%.0f', value)
end

local function clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function is_terminal(status)
  return status == 'completed' or status == 'failed' or status == 'cancelled'
end

local function later(a, b)
  return a > b and a or b
end

-- Is this run still the one that works on the task?
local function runs(task, worker, run)
  local held = redis.call('HMGET', task, 'worker', 'run')
  return held[1] == worker and held[2] == run
end
