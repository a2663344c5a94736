#!lua
-- Sets the rollout rules of a partition. The first partition decides between two that change them at the same time; the
-- others follow, but never back to rules with a smaller number.
-- KEYS  1 switches
-- ARGV  1 now  2 new version: number, point, digest  3 text  4 version that is to be replaced, or '': an older one
-- Reply the version that stands there now

local held = rollout_version(redis.call('HGET', KEYS[1], 'rollout'))
if ARGV[4] ~= '' and held ~= ARGV[4] then return held end
if number(string.match(held, '^%d+')) > number(string.match(ARGV[2], '^%d+')) then return held end

redis.call('HSET', KEYS[1], 'rollout', ARGV[2] .. ' ' .. ARGV[3])
raise_history()
return ARGV[2]
