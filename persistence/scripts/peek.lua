#!lua flags=no-writes
-- The due rows of a queue (due or ready), the earliest first, and the first row after them.
-- KEYS  1 the queue
-- ARGV  1 now  2 offset  3 how many
-- Reply {now, {member, score, ...}}

local now = clock()
local rows = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now), 'WITHSCORES', 'LIMIT', ARGV[2], ARGV[3])
local later = redis.call('ZRANGEBYSCORE', KEYS[1], text(now + 1), '+inf', 'WITHSCORES', 'LIMIT', '0', '1')
for _, value in ipairs(later) do
  rows[#rows + 1] = value
end
return { text(now), rows }
