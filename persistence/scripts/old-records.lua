#!lua flags=no-writes
-- What stands of records that are hashes still, for their migration to layout 3. Long payloads stay where they are.
-- KEYS  1.. record, history and payloads of each
-- ARGV  1 now
-- Reply {{field, value, ...}, {revision, entry, ...}, {digest, payload, ...}} or {} each

local longest = 2048
local reply = {}
for i = 1, #KEYS, 3 do
  local r = opened(KEYS[i])
  if r and r.old then
    local payloads = {}
    for _, digest in ipairs(redis.call('HKEYS', KEYS[i + 2])) do
      if redis.call('HSTRLEN', KEYS[i + 2], digest) <= longest then
        payloads[#payloads + 1] = digest
        payloads[#payloads + 1] = redis.call('HGET', KEYS[i + 2], digest)
      end
    end
    reply[#reply + 1] = { redis.call('HGETALL', KEYS[i]), redis.call('HGETALL', KEYS[i + 1]), payloads }
  else
    reply[#reply + 1] = {}
  end
end
return reply
