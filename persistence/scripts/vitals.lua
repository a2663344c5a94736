#!lua
-- Since when the oldest outcome of a partition is unknown, and the oldest ready row not acknowledged.
-- KEYS  1 unknown  2 parked  3 ready queue  4 being delivered  5 ready rows
-- ARGV  1 now
-- Reply {now, unknown, oldest of them or '', since or '', parked, oldest, since, oldest ready row since or ''}

local function oldest(key)
  local row = redis.call('ZRANGEBYSCORE', key, '-inf', '+inf', 'WITHSCORES', 'LIMIT', '0', '1')
  return row[1] or '', row[2] and text(number(row[2])) or ''
end

local now = clock()
local unknown, unknown_since = oldest(KEYS[1])
local parked, parked_since = oldest(KEYS[2])

-- A consumer of the release before acknowledges without taking its rows out of here.
local delivered, since = oldest(KEYS[4])
while delivered ~= '' and not redis.call('HGET', KEYS[5], delivered) do
  redis.call('ZREM', KEYS[4], delivered)
  delivered, since = oldest(KEYS[4])
end
local ready, ready_since = oldest(KEYS[3])
if redis.call('HGET', KEYS[5], ready) and (since == '' or number(ready_since) < number(since)) then
  since = ready_since
end

return {
  text(now),
  text(redis.call('ZCARD', KEYS[1])), unknown, unknown_since,
  text(redis.call('ZCARD', KEYS[2])), parked, parked_since,
  since
}
