#!lua
-- The outcome of an operation is not unknown, by what its record says: an executor of the release before took the step.
-- KEYS  1 op  2 unknown  3 parked
-- ARGV  1 now  2 operation id  3 revision of the record that was looked at, or '': there is none
-- Reply 1 | 0: the record went on

local r = opened(KEYS[1])
if (r and r.rev or '') ~= ARGV[3] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[2])
return 1
