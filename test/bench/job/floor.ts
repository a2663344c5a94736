/**
 * The floor: what somebody would write by hand for this one job. Six round trips, each one bare script that writes: create,
 * two polls, the end with its result, the lease of the consumer, its acknowledgement. It compares revisions and keeps one
 * ready row per job; it has no guards, no fencing of stale answers, no rate, no history, and cannot be sent again safely.
 */
import { Redis } from 'ioredis';
import { ARGUMENTS, type Contender, RESULT, type Setting, WORKING_POLLS } from './contender.ts';

const SCRIPTS = {
  create: {
    numberOfKeys: 2,
    lua: `#!lua
      -- KEYS 1 job 2 due  ARGV 1 name 2 record 3 request 4 due at
      if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
      redis.call('HSET', KEYS[1], 'rev', '1', 'rec', ARGV[2], 'req', ARGV[3])
      redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
      return 1`,
  },
  poll: {
    numberOfKeys: 2,
    lua: `#!lua
      -- KEYS 1 job 2 due  ARGV 1 name 2 revision 3 record 4 due at
      local rev = redis.call('HGET', KEYS[1], 'rev')
      if rev ~= ARGV[2] then return 0 end
      redis.call('HSET', KEYS[1], 'rev', string.format('%d', rev + 1), 'rec', ARGV[3])
      redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
      return 1`,
  },
  finish: {
    numberOfKeys: 5,
    lua: `#!lua
      -- KEYS 1 job 2 due 3 receipts 4 ready 5 queue  ARGV 1 name 2 revision 3 record 4 result 5 receipt 6 now
      local rev = redis.call('HGET', KEYS[1], 'rev')
      if rev ~= ARGV[2] then return 0 end
      if redis.call('HSETNX', KEYS[3], ARGV[1], ARGV[5]) == 0 then return 0 end
      redis.call('HSET', KEYS[1], 'rev', string.format('%d', rev + 1), 'rec', ARGV[3], 'res', ARGV[4])
      redis.call('ZREM', KEYS[2], ARGV[1])
      redis.call('HSET', KEYS[4], ARGV[1], ARGV[4])
      redis.call('ZADD', KEYS[5], ARGV[6], ARGV[1])
      return 1`,
  },
  lease: {
    numberOfKeys: 3,
    lua: `#!lua
      -- KEYS 1 ready 2 queue 3 leases  ARGV 1 token 2 now 3 until  Reply {name, result} or {}
      local name = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2], 'LIMIT', 0, 1)[1]
      if not name then return {} end
      redis.call('ZADD', KEYS[2], ARGV[3], name)
      redis.call('HSET', KEYS[3], name, ARGV[1])
      return { name, redis.call('HGET', KEYS[1], name) }`,
  },
  ack: {
    numberOfKeys: 4,
    lua: `#!lua
      -- KEYS 1 ready 2 queue 3 leases 4 consumed  ARGV 1 name 2 token
      if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end
      redis.call('HDEL', KEYS[1], ARGV[1])
      redis.call('ZREM', KEYS[2], ARGV[1])
      redis.call('HDEL', KEYS[3], ARGV[1])
      redis.call('HSET', KEYS[4], ARGV[1], ARGV[2])
      return 1`,
  },
} as const;

export const FLOOR_KEYS = {
  job: (name: string) => `{floor}:job:${name}`,
  due: '{floor}:due',
  receipts: '{floor}:receipts',
  ready: '{floor}:ready',
  queue: '{floor}:queue',
  leases: '{floor}:leases',
  consumed: '{floor}:consumed',
} as const;

/** How long a consumer may take, ms. */
const LEASE_MS = 30_000;

type Run = (...args: (string | number)[]) => Promise<unknown>;

export async function floor({ url, recordBytes }: Setting): Promise<Contender> {
  const redis = new Redis(url, { protocol: 2 });
  const run = Object.fromEntries(
    Object.entries(SCRIPTS).map(([name, script]) => {
      redis.defineCommand(`floor_${name}`, script);
      return [name, Reflect.get(redis, `floor_${name}`).bind(redis)];
    }),
  ) as Record<keyof typeof SCRIPTS, Run>;
  await redis.ping();
  const keys = FLOOR_KEYS;
  const record = 'r'.repeat(recordBytes);
  const receipt = 'c'.repeat(RECEIPT_BYTES);
  const delivered = new Map<string, { readonly handled: () => void; readonly acked: () => void }>();
  let tokens = 0;

  /** One row is ready for each job that ended: the consumer takes whichever is first. */
  const consume = async () => {
    const token = `t${tokens++}`;
    const now = Date.now();
    const leased = (await run.lease(keys.ready, keys.queue, keys.leases, token, now, now + LEASE_MS)) as string[];
    const [name, result] = leased;
    const waiting = name === undefined ? undefined : delivered.get(name);
    if (name === undefined || result === undefined || !waiting) throw new Error(`nothing ready: ${leased.join(' ')}`);
    JSON.parse(result);
    waiting.handled();
    expectOne(await run.ack(keys.ready, keys.queue, keys.leases, keys.consumed, name, token), 'ack', name);
    delivered.delete(name);
    waiting.acked();
  };

  return {
    async job(name, handled) {
      const job = keys.job(name);
      const acked = new Promise<void>((resolve) => delivered.set(name, { handled, acked: resolve }));
      const due = String(Date.now());
      expectOne(await run.create(job, keys.due, name, record, JSON.stringify(ARGUMENTS), due), 'create', name);
      let revision = 1;
      for (; revision <= WORKING_POLLS; revision++)
        expectOne(await run.poll(job, keys.due, name, revision, record, Date.now()), 'poll', name);
      const result = JSON.stringify(RESULT);
      const end = [job, keys.due, keys.receipts, keys.ready, keys.queue, name, revision, record, result, receipt];
      expectOne(await run.finish(...end, Date.now()), 'finish', name);
      await Promise.all([consume(), acked]);
    },
    async close() {
      await redis.quit();
    },
  };
}

/** Bytes of a receipt, as ours has. */
const RECEIPT_BYTES = 700;

function expectOne(reply: unknown, step: string, name: string): void {
  if (reply !== 1) throw new Error(`the floor's ${step} of ${name} said ${String(reply)}`);
}
