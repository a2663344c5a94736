import { describe, expect, it } from 'vitest';
import { openLedger } from '../../persistence/index.ts';
import { parseRedisAddress, publicAddress } from '../../persistence/redis/address.ts';

describe('addresses of a Redis ledger', () => {
  it('one server, as ioredis reads it', () => {
    expect(parseRedisAddress('redis://me:word@host:1/2')).toEqual({
      kind: 'single',
      url: 'redis://me:word@host:1/2',
      tls: false,
    });
    expect(parseRedisAddress('rediss://host')).toMatchObject({ kind: 'single', tls: true });
  });

  it('a cluster, by any of its nodes', () => {
    expect(parseRedisAddress('rediss+cluster://me:a%40b@one:7001,[::1]:7002,three')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'one', port: 7001 },
        { host: '::1', port: 7002 },
        { host: 'three', port: 6379 },
      ],
      tls: true,
      username: 'me',
      password: 'a@b',
    });
  });

  it('a primary that Sentinels name', () => {
    expect(parseRedisAddress('redis+sentinel://:word@a:1,b/main%20one?db=3&sentinelPassword=other')).toEqual({
      kind: 'sentinel',
      sentinels: [
        { host: 'a', port: 1 },
        { host: 'b', port: 26379 },
      ],
      master: 'main one',
      db: 3,
      tls: false,
      password: 'word',
      sentinelPassword: 'other',
    });
  });

  it.each([
    ['redis+cluster://', /"" is no host:port.*redis\+cluster/],
    ['redis+cluster://a:1,,b:2', /"" is no host:port/],
    ['redis+cluster://a:0', /"a:0" is no host:port/],
    ['redis+cluster://a:70000', /no host:port/],
    ['redis+cluster://a b:1', /no host:port/],
    ['redis+cluster://a:1/2', /one database.*without "\/2"/],
    ['redis+sentinel://a:1', /lacks the name.*redis\+sentinel/],
    ['redis+sentinel://a:1/x/y', /lacks the name/],
    ['redis+sentinel://a:1/main?db=x', /number of a database, not "x"/],
    ['redis+sentinel://a:1/main?shards=2', /"shards" is no setting/],
    ['redis+sentinel://u:%zz@a:1/main', /percent-encoded/],
    ['redis+other://a:1', /begins with redis:\/\//],
    ['redis://a:b:c', /redis:\/\/\[user:password@\]host:port/],
  ])('%s is refused with what is wrong', async (address, why) => {
    const refused = openLedger(address, { namespace: 'n', openWithinMs: 100 });
    await expect(refused).rejects.toThrow(RangeError);
    await expect(refused).rejects.toThrow(why);
  });

  it('shows no user and no password, and repeats none in a refusal', async () => {
    expect(publicAddress('redis+cluster://me:word@a:1,b:2')).toBe('redis+cluster://a:1,b:2');
    expect(publicAddress('redis://me:w@rd@a:1/2')).toBe('redis://a:1/2');
    expect(publicAddress('rediss+sentinel://a:1/m?db=1&sentinelPassword=x')).toBe(
      'rediss+sentinel://a:1/m?db=1&sentinelPassword=…',
    );
    for (const address of ['redis+cluster://me:secret@a:0', 'redis+sentinel://me:secret@a:1']) {
      const words = await openLedger(address, { namespace: 'n' }).catch(String);
      expect(words).not.toContain('secret');
    }
  });

  it.each([-1, 1.5, 17])('waitForReplicas %d is refused', async (waitForReplicas) => {
    await expect(openLedger('redis://127.0.0.1:1', { namespace: 'n', waitForReplicas })).rejects.toThrow(/0 to 16/);
  });
});
