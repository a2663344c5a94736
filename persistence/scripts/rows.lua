#!lua flags=no-writes
-- What a list shows of records of one partition; of one that is as the asker knows it, only when it is due.
-- KEYS  1.. op of each
-- ARGV  1 now  2.. the revision of each that is known, or ''
-- Reply {revision, due} where it is known | {revision, due, body, state of a hash} | {} where there is none; each

local reply = {}
for i, key in ipairs(KEYS) do
  local r = opened(key)
  if not r then
    reply[i] = {}
  elseif r.rev == ARGV[i + 1] then
    reply[i] = { r.rev, r.due }
  else
    reply[i] = { r.rev, r.due, r.body, r.state or '' }
  end
end
return reply
