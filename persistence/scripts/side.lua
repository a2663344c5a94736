#!lua
-- Which side a call node takes: the one of its record (also of one that was purged), else the recorded one, else the one that is decided now and recorded.
-- KEYS  1 op  2 sides  3 switches  4 tombstones
-- ARGV  1 now  2 operation id  3 version of the rules that the decision was made by  4 side, or '': it needs no entry  5 why
-- Reply {'record', record} | {'purged', tombstone} | {'side', entry} | {'rules', '' or version and text}: decide by these | {'none'}: no entry is needed

local r = opened(KEYS[1])
if r then return { 'record', record(r) } end

local tombstone = redis.call('HGET', KEYS[4], ARGV[2])
if tombstone then return { 'purged', tombstone } end

local entry = redis.call('HGET', KEYS[2], ARGV[2])
if entry then return { 'side', entry } end

local rollout = redis.call('HGET', KEYS[3], 'rollout')
if rollout_version(rollout) ~= ARGV[3] then return { 'rules', rollout or '' } end
if ARGV[4] == '' then return { 'none' } end

entry = ARGV[4] .. ' ' .. text(clock()) .. ' ' .. ARGV[3] .. ' ' .. ARGV[5]
redis.call('HSET', KEYS[2], ARGV[2], entry)
raise_history()
return { 'side', entry }
