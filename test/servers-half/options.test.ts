/** What a server's author gets wrong is told when the server is written, in one line that names the option. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serversHalf20251125 } from '../../adapters/mcp-2025-11-25/server/index.ts';
import { type ServersHalf20260728, serversHalf20260728 } from '../../adapters/mcp-2026-07-28/server/index.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';

let redis: RedisServer;
let half: ServersHalf20260728;

beforeAll(async () => {
  redis = await startRedis();
  half = serversHalf20260728({ redis: redis.url, retentionMs: 60_000, principalOf: () => 'me' });
});
afterAll(async () => {
  await half.close();
  await redis.stop();
});

const right = { redis: 'redis://127.0.0.1:1', retentionMs: 60_000, principalOf: () => 'me' };
const halves = [serversHalf20251125, serversHalf20260728] as unknown as ((options: unknown) => unknown)[];

it.each([
  [undefined, /options: /],
  [{ ...right, redis: 'nowhere' }, /redis: neither a redis:\/\//],
  [{ ...right, redis: {} }, /redis: neither/],
  [{ ...right, retentionMs: undefined }, /retentionMs: not a whole number from 1/],
  [{ ...right, retentionMs: -1 }, /retentionMs: not a whole number from 1/],
  [{ ...right, heartbeatMs: 0.5 }, /heartbeatMs: not a whole number from 50/],
  [{ ...right, durable: 'no' }, /durable: neither true nor false/],
  [{ ...right, principalOf: undefined }, /principalOf: not a function/],
] as const)('options %j are refused, and the option is named', (options, said) => {
  for (const make of halves) expect(() => make(options)).toThrow(said);
});

it.each([
  ['', { inputSchema: { type: 'object' } }, async () => ({ content: [] }), /its name/],
  ['r', {}, async () => ({ content: [] }), /"r" cannot be used: inputSchema/],
  ['r', undefined, async () => ({ content: [] }), /inputSchema/],
  [
    'r',
    { inputSchema: { type: 'object' }, taskSupport: 'maybe' },
    async () => ({ content: [] }),
    /taskSupport: not one of/,
  ],
  ['r', { inputSchema: { type: 'object' } }, 1, /its work is not a function/],
] as const)('2026-07-28: tool(%j, %j) is refused, and says what cannot be used', (name, config, work, said) => {
  expect(() => half.tool(name, config as never, work as never)).toThrow(said);
});
