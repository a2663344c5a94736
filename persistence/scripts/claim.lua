#!lua
-- Leases what is due in one partition, and says when to look there again. While a lease lives, only its owner gets the record
-- (somebody else's step made it due).
-- The one script that makes keys, since it has to find out which records it takes: all of them begin with KEYS[1], so they
-- carry the partition's tag and stand on its slot.
-- KEYS  1 what the key of every op begins with  2 last claim of each owner  3 ends of its leases  4 switches
--       5.. due of each scope
-- ARGV  1 now  2 command id  3 owner  4 lease ms  5 limit  6 execution epoch of the owner
--       7.. how long overdue the records of each scope have to be, ms
-- Reply {now, when to look again or '', {operation id, record, operation id, record, ...}}
--       | {'epoch-over', epoch of the partition}

local epoch = redis.call('HGET', KEYS[4], 'epoch')
if epoch and number(ARGV[6]) < number(epoch) then return { 'epoch-over', epoch } end

local now = clock()
local lease_end = text(now + number(ARGV[4]))
local room = number(ARGV[5])
local claimed = {}

local function add(id, r)
  claimed[#claimed + 1] = id
  claimed[#claimed + 1] = record(r)
end

local again
local function look_at(time)
  again = again and math.min(again, time) or time
end

-- A claim is remembered for as long as its leases, to answer a repetition alike: that one takes nothing new.
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', text(now))) do
  redis.call('HDEL', KEYS[2], over)
  redis.call('ZREM', KEYS[3], over)
end
local last = redis.call('HGET', KEYS[2], ARGV[3])
if last and string.sub(last, 1, #ARGV[2]) == ARGV[2] then
  for id in string.gmatch(string.sub(last, #ARGV[2] + 1), '%S+') do
    local r = opened(KEYS[1] .. id)
    if r and r.own == ARGV[3] then add(id, r) end
  end
  room = 0
end

local taken = ARGV[2]
for scope = 5, #KEYS do
  local due = KEYS[scope]
  local overdue = number(ARGV[scope + 2])
  local latest = text(now - overdue)
  local passed = 0
  local full = false

  while not full do
    local ids = redis.call('ZRANGEBYSCORE', due, '-inf', latest, 'LIMIT', text(passed), text(room + 1))
    if #ids == 0 then break end
    for _, id in ipairs(ids) do
      local op = KEYS[1] .. id
      local r = opened(op)
      local leased = r and r.own ~= '' and number(r.unt) > now
      if not r then
        passed = passed + 1
      elseif leased and r.own ~= ARGV[3] then
        passed = passed + 1
        look_at(number(r.unt))
      elseif room == 0 then
        full = true
        look_at(now)
        break
      else
        if not leased then r.lep = text(number(r.lep) + 1) end
        r.own, r.unt = ARGV[3], lease_end
        put_lease(op, r)
        redis.call('ZADD', due, lease_end, id)
        add(id, r)
        taken = taken .. ' ' .. id
        room = room - 1
      end
    end
  end

  local later = redis.call('ZRANGEBYSCORE', due, text(now - overdue + 1), '+inf', 'WITHSCORES', 'LIMIT', '0', '1')
  if later[2] then look_at(number(later[2]) + overdue) end
end

if taken ~= ARGV[2] then
  redis.call('HSET', KEYS[2], ARGV[3], taken)
  redis.call('ZADD', KEYS[3], lease_end, ARGV[3])
end
return { text(now), again and text(again) or '', claimed }
