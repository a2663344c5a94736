#!lua flags=no-writes
-- Some rows of a queue (due or ready), the earliest first.
-- KEYS  1 the queue
-- ARGV  1 now  2 offset  3 how many
-- Reply {now, {member, score, ...}}

local rows = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '+inf', 'WITHSCORES', 'LIMIT', ARGV[2], ARGV[3])
return { text(clock()), rows }
