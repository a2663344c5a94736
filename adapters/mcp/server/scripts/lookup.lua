#!lua
-- What became of a submission key. Where nothing was created, this closes the key in the same step: no attempt up to the
-- one that is asked about can create anything any more.
-- KEYS  1 key
-- ARGV  1 through attempt  2 digest  3 principal  4 owner  5 retention ms
-- Reply {'task', task id, created, status} | {'never', closed through attempt} | {'refused'}: the key is another call's

local known = redis.call('HMGET', KEYS[1], 'digest', 'principal', 'owner', 'closed', 'task', 'created', 'status')
if known[1] then
  if known[1] ~= ARGV[2] or known[2] ~= ARGV[3] or known[3] ~= ARGV[4] then return { 'refused' } end
  if known[5] ~= '' then return { 'task', known[5], known[6], known[7] } end
end
local closed = text(later(tonumber(known[4] or '0'), tonumber(ARGV[1])))
redis.call(
  'HSET', KEYS[1], 'task', '', 'created', '', 'status', '', 'digest', ARGV[2], 'principal', ARGV[3], 'owner', ARGV[4],
  'closed', closed
)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return { 'never', closed }
