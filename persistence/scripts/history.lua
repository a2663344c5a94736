#!lua flags=no-writes
-- The history of an operation, in any order: what is in its record, what was too long for that, and the entries of layout 2.
-- KEYS  1 op  2 history
-- ARGV  1 now
-- Reply {revision, text or packed text, ...}

local r = opened(KEYS[1])
local reply = entries_in(r and r.tail or '')
local held = redis.call('HGETALL', KEYS[2])
for i = 1, #held, 2 do
  local several = string.sub(held[i + 1], 1, 1) == '{' and { held[i], held[i + 1] } or entries_in(held[i + 1])
  for _, each in ipairs(several) do
    reply[#reply + 1] = each
  end
end
return reply
