import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import Database from 'libsql';
import { expect, it } from 'vitest';
import { EmbeddedHost } from '../../persistence/embedded/host.ts';
import { RedisHost } from '../../persistence/redis/host.ts';
import { scriptNames } from '../../persistence/scripts.ts';
import { startRedis } from '../support/redis.ts';
import { ledgerContract, type StoreUnderTest } from './contract/index.ts';

it('has a #!lua line, a list of its arguments and a name for every script', () => {
  const dir = new URL('../../persistence/scripts/', import.meta.url);
  const files = readdirSync(dir).filter((file) => file !== 'prelude.lua');
  expect(files.sort()).toEqual(scriptNames.map((name) => `${name}.lua`).sort());
  for (const file of files) {
    const text = readFileSync(new URL(file, dir), 'utf8');
    expect(text, file).toMatch(
      /^#!lua( flags=no-writes)?\n(-- .*\n)*-- KEYS .*\n(-- .*\n)*-- ARGV .*\n(-- .*\n)*-- Reply/,
    );
  }
});

ledgerContract('Redis', async (): Promise<StoreUnderTest> => {
  const server = await startRedis();
  const redis = new Redis(server.url);
  return {
    address: server.url,
    host: async () => new RedisHost({ url: server.url, channel: 'test', commandTimeoutMs: 1000 }),
    plant: async (key, field, value) => {
      await (value === null ? redis.hdel(key, field) : redis.hset(key, field, value));
    },
    replace: async (key, by) => {
      const text = by === null ? null : await redis.getBuffer(key);
      if (by === null) await redis.del(key);
      else await redis.set(key, by(text ?? Buffer.alloc(0)));
    },
    unrank: async (key, member) => {
      await redis.zrem(key, member);
    },
    clear: async () => {
      await redis.flushall();
    },
    stop: async () => {
      redis.disconnect();
      await server.stop();
    },
  };
});

ledgerContract('a file', async (): Promise<StoreUnderTest> => {
  const dir = mkdtempSync(join(tmpdir(), 'toolop-file-'));
  const address = join(dir, 'deep', 'ledger.db');
  const change = async (sql: string, values: Buffer[]): Promise<void> => {
    const db = new Database(address);
    db.exec('PRAGMA busy_timeout = 2000');
    db.prepare(sql).run(values);
    db.close();
  };
  return {
    address,
    host: () => EmbeddedHost.open(address, 1000),
    plant: (key, field, value) =>
      value === null
        ? change('DELETE FROM hash WHERE key = ? AND field = ?', [Buffer.from(key), Buffer.from(field)])
        : change(
            'INSERT OR REPLACE INTO hash (key, field, value) VALUES (?, ?, ?)',
            [key, field, value].map((each) => Buffer.from(each)),
          ),
    replace: async (key, by) => {
      const db = new Database(address);
      db.exec('PRAGMA busy_timeout = 2000');
      const at = [Buffer.from(key), Buffer.alloc(0)];
      const row = db.prepare('SELECT value FROM hash WHERE key = ? AND field = ?').raw().get(at) as
        | [Buffer]
        | undefined;
      db.prepare('DELETE FROM hash WHERE key = ?').run([Buffer.from(key)]);
      if (by !== null) {
        const text = by(row?.[0] ?? Buffer.alloc(0));
        db.prepare('INSERT INTO hash (key, field, value) VALUES (?, ?, ?)').run([...at, text]);
      }
      db.close();
    },
    unrank: (key, member) =>
      change(
        'DELETE FROM zset WHERE key = ? AND member = ?',
        [key, member].map((each) => Buffer.from(each)),
      ),
    clear: async () => rmSync(join(dir, 'deep'), { recursive: true, force: true }),
    stop: async () => rmSync(dir, { recursive: true, force: true }),
  };
});
