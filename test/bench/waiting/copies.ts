/**
 * Waiting operations by the hundred thousand: copies of one that an executor wrote, made inside of Redis. Every key that
 * carries the operation's id is copied under another id, every entry about it in a shared key is added once more; nothing
 * of the layout is known here. What a record says packed stays the original's, which under another id is not readable.
 */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { OperationLedger } from '../../../machines/index.ts';
import { readSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import type { Sample } from './records.ts';

const PER_CALL = 500;

/** ARGV 1 the names that are replaced, 2 the partition's tag, 3 keys, 4 entries, 5 the new names and tag of each copy; all as JSON. */
const COPY = `
local names, tag, keys, entries, copies = cjson.decode(ARGV[1]), ARGV[2], cjson.decode(ARGV[3]), cjson.decode(ARGV[4]), cjson.decode(ARGV[5])
local read = { hash = 'HGETALL', string = 'GET' }
local texts = {}
for i, key in ipairs(keys) do texts[i] = redis.call(read[key.type], key.name) end
for _, copy in ipairs(copies) do
  local function renamed(text)
    for i, name in ipairs(names) do text = string.gsub(text, name, copy.names[i]) end
    return (string.gsub(text, tag, copy.tag))
  end
  for i, key in ipairs(keys) do
    if key.type == 'string' then
      redis.call('SET', renamed(key.name), renamed(texts[i]))
    else
      local pairs = {}
      for j, text in ipairs(texts[i]) do pairs[j] = renamed(text) end
      redis.call('HSET', renamed(key.name), unpack(pairs))
    end
  end
  for _, entry in ipairs(entries) do
    if entry.type == 'zset' then
      redis.call('ZADD', renamed(entry.key), entry.value, renamed(entry.member))
    else
      redis.call('HSET', renamed(entry.key), renamed(entry.member), renamed(entry.value))
    end
  end
end
return #copies`;

interface Entry {
  readonly key: string;
  readonly type: 'hash' | 'zset';
  readonly member: string;
  readonly value: string;
}

/** Writes copies `from` to `to` (excluded); answers the id of the last one. The sample must be alone, or nearly. */
export class Copier {
  private constructor(
    private readonly redis: Redis,
    private readonly ledger: OperationLedger,
    private readonly sample: Sample,
    private readonly keys: readonly { readonly name: string; readonly type: string }[],
    private readonly entries: readonly Entry[],
  ) {}

  static async of(redis: Redis, ledger: OperationLedger, sample: Sample): Promise<Copier> {
    const { operationId, snapshot } = sample.record;
    const { taskId } = readSnapshot(operationId, snapshot).context;
    const isOwn = (text: string) => text.includes(operationId) || (taskId !== null && text.includes(taskId));
    const keys: { name: string; type: string }[] = [];
    const entries: Entry[] = [];
    for (const name of await redis.keys('*')) {
      const type = await redis.type(name);
      if (name.includes(operationId)) {
        if (type !== 'hash' && type !== 'string') throw new Error(`${name} is a ${type}: nobody copies those here`);
        keys.push({ name, type });
      } else if (type === 'zset' || type === 'hash') {
        const flat =
          type === 'zset'
            ? await redis.zrange(name, '0', '-1', 'WITHSCORES')
            : Object.entries(await redis.hgetall(name)).flat();
        for (let nth = 0; nth < flat.length; nth += 2) {
          const [member = '', value = ''] = [flat[nth], flat[nth + 1]];
          if (isOwn(member) || (type === 'hash' && isOwn(value))) entries.push({ key: name, type, member, value });
        }
      }
    }
    return new Copier(redis, ledger, sample, keys, entries);
  }

  async write(from: number, to: number, told: (written: number) => void): Promise<string> {
    const { operationId, snapshot } = this.sample.record;
    const { context } = readSnapshot(operationId, snapshot);
    const { namespace, principal, callNodeId: node, submissionKey } = context;
    // The task's id may be the beginning of the key: the longer name first.
    const names = [operationId, submissionKey, context.taskId ?? submissionKey, node];
    const tagOf = (id: string) => `/${id.slice(0, id.indexOf('.'))}}`;
    const fixed = [
      JSON.stringify(names.map(literal)),
      literal(tagOf(operationId)),
      JSON.stringify(this.keys),
      JSON.stringify(this.entries),
    ];
    let last = operationId;
    for (let nth = from; nth < to; nth += PER_CALL) {
      const copies = Array.from({ length: Math.min(PER_CALL, to - nth) }, (_, index) => {
        const callNodeId = String(nth + index).padStart(node.length, 'c');
        const key = randomBytes(32).toString('hex');
        last = this.ledger.operationIdOf({ namespace, principal, callNodeId });
        return { names: [last, key, key.slice(0, context.taskId?.length ?? 0), callNodeId], tag: tagOf(last) };
      });
      await this.redis.eval(COPY, 0, ...fixed, JSON.stringify(copies));
      told(nth + copies.length);
    }
    return last;
  }
}

/** A pattern of Lua that matches just this text. */
const literal = (text: string): string => text.replaceAll(/[^A-Za-z0-9]/g, '%$&');
