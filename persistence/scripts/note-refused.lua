#!lua
-- A line in the history of an operation about a fact that was refused: no step, and the record stays as it is. A repetition
-- writes the same line again.
-- KEYS  1 op  2 history
-- ARGV  1 now  2 place of the line  3 line  4 how many fields the history may have
-- Reply 1: it is there | 0: there is no such operation, or no room

if not opened(KEYS[1]) then return 0 end
if #redis.call('HKEYS', KEYS[2]) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1
