#!lua
-- One batch of the migration to layout 3: records that were hashes become texts. One that made a step meanwhile is one already.
-- KEYS  1 progress of the partition  2.. record, history and payloads of each
-- ARGV  1 now  2 progress as the sender knows it, or ''  3 progress after this batch
--       4.. of each record: revision, body, digest of its fields, request digest, terminal state, payloads that are moved
--       into it (their digests), history or '' where it stays, payloads
-- Reply the progress that holds

local progress = redis.call('HGET', KEYS[1], 'at') or ''
if progress ~= ARGV[2] then return progress end

for i = 2, #KEYS, 3 do
  local at = 4 + (i - 2) / 3 * 8
  local r = opened(KEYS[i])
  if r and r.old and r.rev == ARGV[at] then
    r.body, r.fields, r.tail, r.inline = ARGV[at + 1], ARGV[at + 2], ARGV[at + 6], ARGV[at + 7]
    if r.rid ~= '' then r.rid = r.rid .. ' ' .. ARGV[at + 3] .. ' ' .. ARGV[at + 4] end
    put(KEYS[i], r)
    if r.tail ~= '' then redis.call('UNLINK', KEYS[i + 1]) end
    for digest in string.gmatch(ARGV[at + 5], '%S+') do
      redis.call('HDEL', KEYS[i + 2], digest)
    end
  end
end
redis.call('HSET', KEYS[1], 'at', ARGV[3])
return ARGV[3]
