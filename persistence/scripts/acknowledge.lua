#!lua
-- An operator has seen that the history of a partition went backwards: it goes on in a new epoch, and every record of it counts
-- as one of an older history.
-- KEYS  1 mark
-- ARGV  1 now  2 the epoch that was shown  3 the highest epoch that the operator has seen  4 who
-- Reply {epoch, number}

local epoch, at, lost_epoch = parsed_mark(KEYS[1])
if epoch ~= ARGV[2] then return { epoch, at } end

local highest = number(epoch)
for _, other in ipairs({ lost_epoch, ARGV[3] }) do
  if other ~= '' then highest = math.max(highest, number(other)) end
end
local new = text(highest + 1)
redis.call('HSET', KEYS[1], 'mark', new .. ' ' .. at, 'by', ARGV[4], 'at', text(clock()))
return { new, at }
