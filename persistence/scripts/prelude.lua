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

-- A record says in which epoch of the history it was made or adopted; one from before there were epochs is of the first.
local function of_older_history(epoch)
  return history.how == '' and (epoch ~= '' and epoch or '1') ~= history.epoch
end

-- A record is one text, since a key of its own for each part of it would cost more than the part: ten lines; the sizes of two
-- sections; the tail of its history; its small payloads; its body, which is packed and which no script looks into.
--   rid     '' until it is accepted, then receipt id, request digest, terminal state
--   cmds    the last two commands and what they made of it
--   fields  digest of the fields that accept compares
-- Until layout 3 it was a hash. That is read as long as it stands (`old`), and the next step makes it a text.
local record_lines = '^' .. string.rep('([^\n]*)\n', 10) .. '(%d+) (%d+)\n()'

local function opened(op)
  local stored = redis.pcall('GET', op)
  if not stored then return nil end
  if type(stored) == 'string' then
    local r, tail, inline, at = { bytes = #stored }, nil, nil, nil
    r.rev, r.own, r.lep, r.unt, r.due, r.scope, r.hep, r.rid, r.cmds, r.fields, tail, inline, at =
      string.match(stored, record_lines)
    local body = at + tonumber(tail) + tonumber(inline)
    r.tail = string.sub(stored, at, at + tonumber(tail) - 1)
    r.inline = string.sub(stored, at + tonumber(tail), body - 1)
    r.body = string.sub(stored, body)
    return r
  end
  -- The commands that it knows are of processes that are gone, under longer names: none of them is asked again.
  local held = redis.call('HMGET', op, 'rev', 'own', 'lep', 'unt', 'due', 'scope', 'hep', 'rid', 'snap', 'state')
  return {
    old = true, tail = '', inline = '', fields = '', cmds = '',
    rev = held[1], own = held[2], lep = held[3], unt = held[4], due = held[5], scope = held[6],
    hep = held[7] or '', rid = held[8], body = held[9], state = held[10],
  }
end

local function put(op, r)
  redis.call('SET', op, table.concat({
    r.rev, r.own, r.lep, r.unt, r.due, r.scope, r.hep, r.rid, r.cmds, r.fields,
    string.format('%d %d', #r.tail, #r.inline), r.tail .. r.inline .. r.body,
  }, '\n'))
end

-- The lease and the due time of a record, which is no step.
local function put_lease(op, r)
  if r.old then
    redis.call('HSET', op, 'own', r.own, 'lep', r.lep, 'unt', r.unt, 'due', r.due)
  else
    put(op, r)
  end
end

local function record(r)
  return { r.rev, r.body, r.state or '', r.scope, r.due, r.own, r.lep, r.unt }
end

-- A step (create, commit, accept) has
--   KEYS  1 op  2 history  3 payloads  4 due of the scope  5 scopes of processes
--   ARGV  1 now  2 operation id  3 command id  4 body  5 scope  6 due at or ''  7 history entry or ''
--         8 digest of the fields that accept compares  9 execution epoch; the script's own follow, then payloads as
--         tag, digest, text, ...

-- A repetition of one of the last two commands is answered as the first time; an older one finds another revision and is
-- judged anew by its sender, who then sees it applied.
local function revision_of(r, command)
  for id, revision in string.gmatch(r.cmds, '(%S+) (%S+)') do
    if id == command then return revision end
  end
  return nil
end

-- Sections are made of entries: a name, a size, so many bytes.
local function entry_of(name, bytes)
  return name .. ' ' .. string.format('%d', #bytes) .. '\n' .. bytes
end

-- {name, bytes, name, bytes, ...}
local function entries_in(section)
  local entries, at = {}, 1
  while at <= #section do
    local name, size, from = string.match(section, '^(%S+) (%d+)\n()', at)
    at = from + tonumber(size)
    entries[#entries + 1] = name
    entries[#entries + 1] = string.sub(section, from, at - 1)
  end
  return entries
end

-- A record is rewritten with each step: what would make it long goes to a key of its own.
local longest_tail = 1536
local longest_inline = 768

local function write_step(r, revision, first_payload)
  local last = string.match(r.cmds, '^%S+ %S+')
  r.rev, r.body, r.scope, r.due, r.fields = revision, ARGV[4], ARGV[5], ARGV[6], ARGV[8]
  r.cmds = ARGV[3] .. ' ' .. revision .. (last and ' ' .. last or '')
  if history.how == 'adopt' then r.hep = history.epoch end
  raise_history()
  if ARGV[7] ~= '' then
    r.tail = r.tail .. entry_of(revision, ARGV[7])
    if #r.tail > longest_tail then
      redis.call('HSET', KEYS[2], revision, r.tail)
      r.tail = ''
    end
  end
  for i = first_payload, #ARGV, 3 do
    local entry = entry_of(ARGV[i], ARGV[i + 2])
    if string.byte(ARGV[i + 2]) ~= 255 or #r.inline + #entry > longest_inline then
      redis.call('HSET', KEYS[3], ARGV[i + 1], ARGV[i + 2])
    elseif not string.find(r.inline, entry, 1, true) then
      r.inline = r.inline .. entry
    end
  end
  put(KEYS[1], r)
end

-- `score` is when somebody may claim the record: its due time, or the end of a lease that is kept.
local function enter_due(due, score)
  if due == '' then
    redis.call('ZREM', KEYS[4], ARGV[2])
    return
  end
  redis.call('ZADD', KEYS[4], score, ARGV[2])
  if string.sub(ARGV[5], 1, 8) == 'process:' then redis.call('HSET', KEYS[5], ARGV[5], '1') end
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
