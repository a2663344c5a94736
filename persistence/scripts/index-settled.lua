#!lua
-- One batch of the migration to layout 2: what was consumed before there was an index of it gets into the index.
-- KEYS  1 progress of the partition  2 settled  3 consumed marks
-- ARGV  1 now  2 progress as the sender knows it, or ''  3 progress after this batch  4.. operation id, when it ended
-- Reply the progress that holds

local progress = redis.call('HGET', KEYS[1], 'at') or ''
if progress ~= ARGV[2] then return progress end

for i = 4, #ARGV, 2 do
  -- What is there was put there by its consumer, who knows better.
  if redis.call('HGET', KEYS[3], ARGV[i]) and not redis.call('ZSCORE', KEYS[2], ARGV[i]) then
    redis.call('ZADD', KEYS[2], text(math.min(number(ARGV[i + 1]), clock())), ARGV[i])
  end
end
redis.call('HSET', KEYS[1], 'at', ARGV[3])
return ARGV[3]
