-- The loader puts this between the first line of every script and its body.
-- Numbers are made floats, because the integers of the embedded VM have 32 bits, and '%.0f' writes them alike on both hosts.

local function number(digits)
  return tonumber(digits) + 0.0
end

local function text(value)
  return string.format('%.0f', value)
end

-- Milliseconds. ARGV[1] of every script is the clock of a test, or empty.
local function clock()
  if ARGV[1] ~= '' then return number(ARGV[1]) end
  local time = redis.call('TIME')
  return number(time[1]) * 1000 + math.floor(number(time[2]) / 1000)
end

-- The history of a partition. Its mark is 'epoch number', and the number rises with each step that writes. A script of the
-- history (scripts.ts names them) has one key more, the mark, and three arguments more: what to do with a record of an older
-- history ('': refuse, 'keep', 'adopt'), and the epoch and number of the highest mark that its sender has seen.
-- It answers {reply, epoch, number}, or {'regressed', epoch, number, seen epoch, seen number} where the mark is older than one
-- that somebody has seen: that is noted in the mark, and nobody writes there until it is acknowledged.
local history = {}

local function parsed_mark(key)
  return string.match(redis.call('HGET', key, 'mark') or '1 0', '^(%d+) (%d+) ?(%d*) ?(%d*)$')
end

local function enter_history()
  local seen_number = table.remove(ARGV)
  local seen_epoch = table.remove(ARGV)
  history.how = table.remove(ARGV)
  history.key = table.remove(KEYS)
  local epoch, at, lost_epoch, lost_number = parsed_mark(history.key)
  local lost = lost_epoch ~= ''
  local last_epoch, last_number = epoch, at
  if lost then
    last_epoch, last_number = lost_epoch, lost_number
  end
  local newer = number(seen_epoch) > number(last_epoch)
  local further = seen_epoch == last_epoch and number(seen_number) > number(last_number)
  if newer or further then
    redis.call('HSET', history.key, 'mark', epoch .. ' ' .. at .. ' ' .. seen_epoch .. ' ' .. seen_number)
    return { 'regressed', epoch, at, seen_epoch, seen_number }
  end
  if lost then return { 'regressed', epoch, at, lost_epoch, lost_number } end
  history.epoch, history.number = epoch, number(at)
  return nil
end

local function raise_history()
  history.number = history.number + 1
  redis.call('HSET', history.key, 'mark', history.epoch .. ' ' .. text(history.number))
end

-- A record says in which epoch of the history it was made or adopted.
local function of_older_history(epoch)
  return history.how == '' and (epoch or '1') ~= history.epoch
end

local function record(op)
  return redis.call('HMGET', op, 'rev', 'snap', 'state', 'scope', 'due', 'own', 'lep', 'unt')
end

-- A step (create, commit, accept) has
--   KEYS  1 op  2 history  3 payloads  4 due of the scope  5 scopes of processes
--   ARGV  1 now  2 operation id  3 command id  4 snapshot  5 state  6 scope  7 due at or ''  8 history entry or ''
--         9..16 the fields that accept compares; the script's own follow, then payloads as digest, text, ...

local step_fields = {
  'callNode', 'requestDigest', 'taskId', 'toolVersion',
  'executionEpoch', 'cancelGeneration', 'terminalState', 'resultDigest',
}

-- The last two commands of a record and what they made of it. A repetition is answered as the first time; an older one
-- finds another revision and is judged anew by its sender, who then sees it applied.
local function revision_of(op, command)
  local known = redis.call('HGET', op, 'cmds')
  if not known then return nil end
  for id, revision in string.gmatch(known, '(%S+) (%S+)') do
    if id == command then return revision end
  end
  return nil
end

local function remembered(op, command, revision)
  local known = redis.call('HGET', op, 'cmds')
  local last = known and string.match(known, '^%S+ %S+')
  return command .. ' ' .. revision .. (last and ' ' .. last or '')
end

local function write_step(revision, due, first_payload)
  local commands = remembered(KEYS[1], ARGV[3], revision)
  redis.call(
    'HSET', KEYS[1], 'rev', revision, 'snap', ARGV[4], 'state', ARGV[5], 'scope', ARGV[6], 'due', due, 'cmds', commands,
    step_fields[1], ARGV[9], step_fields[2], ARGV[10], step_fields[3], ARGV[11], step_fields[4], ARGV[12],
    step_fields[5], ARGV[13], step_fields[6], ARGV[14], step_fields[7], ARGV[15], step_fields[8], ARGV[16]
  )
  if history.how == 'adopt' then redis.call('HSET', KEYS[1], 'hep', history.epoch) end
  raise_history()
  if ARGV[8] ~= '' then redis.call('HSET', KEYS[2], revision, ARGV[8]) end
  for i = first_payload, #ARGV, 2 do
    redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
  end
end

-- `score` is when somebody may claim the record: its due time, or the end of a lease that is kept.
local function enter_due(due, score)
  if due == '' then
    redis.call('ZREM', KEYS[4], ARGV[2])
    return
  end
  redis.call('ZADD', KEYS[4], score, ARGV[2])
  if string.sub(ARGV[6], 1, 8) == 'process:' then redis.call('HSET', KEYS[5], ARGV[6], '1') end
end

-- Why nothing may be created under this epoch and this adapter ('': none is asked for), as the reply that says so, or nothing.
local function not_to_be_created(switches, epoch, adapter)
  local set = redis.call('HMGET', switches, 'epoch', 'creation', adapter)
  if set[1] and number(epoch) < number(set[1]) then return { 'epoch-over', set[1] } end
  if set[2] == 'off' then return { 'creation-off' } end
  if set[3] and set[3] ~= 'active' then return { 'switched-off', set[3] } end
  return nil
end

-- The side of a call node, as its entry among the sides begins: `side at version of what`.
local function side_in(entry)
  return string.match(entry, '^%S+')
end

-- The version of the rollout rules of a partition, which stands before their text; '0': there never were any.
local function rollout_version(rollout)
  return rollout and string.match(rollout, '^%S+') or '0'
end
