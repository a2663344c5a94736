#!lua flags=no-writes
-- How many rows sorted sets have.
-- KEYS  1.. the sets
-- ARGV  1 now
-- Reply {number, ...}

local reply = {}
for i, key in ipairs(KEYS) do
  reply[i] = text(redis.call('ZCARD', key))
end
return reply
