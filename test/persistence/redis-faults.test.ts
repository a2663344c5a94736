import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LedgerUnavailable, type OperationLedger, type ReadyRow } from '../../machines/operation-ledger.ts';
import { type LedgerOptions, openLedger } from '../../persistence/index.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { acceptStep, NAMESPACE, newOperation, step } from './steps.ts';

describe('ledger on a Redis that fails', () => {
  let server: RedisServer;
  let admin: Redis;
  const ledgers: OperationLedger[] = [];

  const open = async (options: Partial<LedgerOptions> = {}): Promise<OperationLedger> => {
    const ledger = await openLedger(server.url, { namespace: NAMESPACE, ...options });
    ledgers.push(ledger);
    return ledger;
  };
  const refusal = async (promise: Promise<unknown>): Promise<string> => {
    const error = await promise.then(
      () => new Error('it was taken'),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(LedgerUnavailable);
    return (error as LedgerUnavailable).message;
  };

  beforeEach(async () => {
    server = await startRedis();
    admin = new Redis(server.url, { retryStrategy: () => 50 });
    admin.on('error', () => {});
  });
  afterEach(async () => {
    await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()));
    admin.disconnect();
    await server.stop();
  });

  it('doubles nothing when replies are lost', async () => {
    const ledger = await open();
    let over = false;
    let cuts = 0;
    const cutting = (async () => {
      while (!over) {
        cuts += Number(await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'));
        await sleep(25);
      }
    })();
    const one = async (): Promise<string> => {
      const operationId = newOperation(ledger);
      expect(await ledger.create(step(operationId), null)).toMatchObject({ kind: 'created' });
      await sleep(Math.random() * 400);
      const next = { ...step(operationId), expectedRevision: '1' };
      expect(await ledger.commit(next)).toEqual({ kind: 'committed', revision: '2' });
      await sleep(Math.random() * 400);
      expect(await ledger.acceptTerminal(acceptStep(operationId, '2'))).toEqual({ kind: 'accepted', revision: '3' });
      return operationId;
    };
    const all = await Promise.all(Array.from({ length: 500 }, one));
    const rows: ReadyRow[] = [];
    while (rows.length < all.length) {
      rows.push(...(await ledger.leaseReady('c', 40, 60_000).catch(() => [])));
    }
    const acknowledged = await Promise.all(rows.map((row) => ledger.ackReady(row, 'c')));
    over = true;
    await cutting;
    expect(cuts).toBeGreaterThan(5);
    expect(rows.map(({ operationId }) => operationId).sort()).toEqual(all.sort());
    expect(acknowledged.every(Boolean)).toBe(true);
    expect(await ledger.audit()).toEqual([]);
    for (const operationId of all.slice(0, 50)) expect((await ledger.readHistory(operationId)).length).toBe(3);
  }, 20_000);

  it('hands out every due record once when replies are lost', async () => {
    const ledger = await open();
    await Promise.all(Array.from({ length: 200 }, () => ledger.create(step(newOperation(ledger)), null)));
    let over = false;
    const cutting = (async () => {
      for (; !over; await sleep(15)) await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    })();
    const seen: string[] = [];
    await Promise.all(
      ['a', 'b'].map(async (owner) => {
        for (let empty = 0; empty < 2; ) {
          const ask = { owner, scopes: ['endpoint:e'], limit: 9, leaseMs: 60_000, executionEpoch: 1 };
          const { claimed } = await ledger.claimDue(ask).catch((error: unknown) => {
            expect(error).toBeInstanceOf(LedgerUnavailable);
            return { claimed: null };
          });
          if (claimed?.length === 0) empty++;
          seen.push(...(claimed ?? []).map(({ operationId }) => operationId));
        }
      }),
    );
    over = true;
    await cutting;
    expect(seen.length).toBe(200);
    expect(new Set(seen).size).toBe(200);
  }, 20_000);

  it('loses nothing acknowledged to a kill, and goes on without being opened again', async () => {
    const ledger = await open();
    const acknowledged = new Map<string, number>();
    let over = false;
    const writers = Array.from({ length: 16 }, async () => {
      while (!over) {
        const operationId = newOperation(ledger);
        await ledger.create(step(operationId), null);
        acknowledged.set(operationId, 1);
        for (let revision = 1; revision < 4; revision++) {
          const next = { ...step(operationId), expectedRevision: String(revision) };
          expect(await ledger.commit(next)).toEqual({ kind: 'committed', revision: String(revision + 1) });
          acknowledged.set(operationId, revision + 1);
        }
      }
    });
    // Where the test fails before, nobody waits for them.
    for (const writer of writers) writer.catch(() => undefined);
    for (let round = 0; round < 3; round++) {
      const begun = acknowledged.size;
      await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThan(begun + 16), { timeout: 10_000 });
      await server.kill('SIGKILL');
      const before = new Map(acknowledged);
      await server.restart();
      const fresh = await open();
      await Promise.all(
        [...before].map(async ([operationId, revision]) => {
          expect(Number((await fresh.load(operationId))?.revision ?? 0)).toBeGreaterThanOrEqual(revision);
        }),
      );
    }
    over = true;
    await Promise.all(writers);
    await Promise.all(
      [...acknowledged].map(async ([operationId, revision]) => {
        expect(await ledger.load(operationId)).toMatchObject({ revision: String(revision) });
        expect((await ledger.readHistory(operationId)).length).toBe(revision);
      }),
    );
  }, 60_000);

  it('says that nobody answers, without the password', async () => {
    const ledger = await open({ definiteWithinMs: 400 });
    const operationId = newOperation(ledger);
    await ledger.create(step(operationId), null);
    const next = { ...step(operationId), expectedRevision: '1' };
    await server.kill('SIGKILL');
    expect(await refusal(ledger.commit(next))).toMatch(
      /127\.0\.0\.1:\d+.*ECONNREFUSED.*unknown.*Check that the server/,
    );
    expect(await refusal(ledger.load(operationId))).toContain('did not answer');
    const address = server.url.replace('redis://', 'redis://user:secret@');
    const words = await refusal(openLedger(address, { namespace: NAMESPACE, definiteWithinMs: 300 }));
    expect(words).toContain('ECONNREFUSED');
    expect(words).not.toContain('secret');
    await server.restart();
    await expect.poll(() => ledger.commit(next).catch(() => null), { timeout: 3000 }).toMatchObject({ revision: '2' });
  });

  it('reports a frozen server as unknown; the step may still happen, once', async () => {
    const ledger = await open({ attemptMs: 200, definiteWithinMs: 500 });
    const operationId = newOperation(ledger);
    await ledger.create(step(operationId), null);
    const next = { ...step(operationId), expectedRevision: '1' };
    await server.kill('SIGSTOP');
    expect(await refusal(ledger.commit(next))).toContain('whether the step was taken is unknown');
    await server.kill('SIGCONT');
    expect(await ledger.commit(next)).toEqual({ kind: 'committed', revision: '2' });
    expect((await ledger.readHistory(operationId)).length).toBe(2);
  });

  it('says that the server is read-only', async () => {
    const ledger = await open({ definiteWithinMs: 400 });
    const operationId = newOperation(ledger);
    await ledger.create(step(operationId), null);
    const next = { ...step(operationId), expectedRevision: '1' };
    await admin.replicaof('127.0.0.1', 1);
    expect(await refusal(ledger.commit(next))).toMatch(/read-only replica.*primary/);
    await admin.replicaof('NO', 'ONE');
    expect(await ledger.commit(next)).toMatchObject({ kind: 'committed' });
  });

  it('says that the memory is full, still reads, and recovers', async () => {
    const ledger = await open({ definiteWithinMs: 300 });
    const operationId = newOperation(ledger);
    await ledger.create(step(operationId), null);
    const next = { ...step(operationId), expectedRevision: '1' };
    await admin.config('SET', 'maxmemory', '1000');
    expect(await refusal(ledger.commit(next))).toMatch(/memory is full.*Raise maxmemory/);
    expect(await ledger.load(operationId)).toMatchObject({ revision: '1' });
    await admin.config('SET', 'maxmemory', '0');
    expect(await ledger.commit(next)).toMatchObject({ kind: 'committed' });
  });

  it('says that too few replicas are in touch', async () => {
    const ledger = await open({ definiteWithinMs: 300 });
    await admin.config('SET', 'min-replicas-to-write', '1');
    expect(await refusal(ledger.create(step(newOperation(ledger)), null))).toContain('too few replicas');
  });

  it('says who is not let in', async () => {
    await admin.config('SET', 'requirepass', 'right');
    const wrong = server.url.replace('redis://', 'redis://:wrong@');
    const words = await refusal(openLedger(wrong, { namespace: NAMESPACE, definiteWithinMs: 300 }));
    expect(words).toMatch(/password/);
    expect(words).not.toContain('wrong@');
  });

  it('states what it cannot vouch for', async () => {
    const ledger = await open();
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await ledger.durability()).toMatchObject({
      acceptable: false,
      statement: expect.stringContaining('evicts records'),
    });
    await admin.config('SET', 'maxmemory-policy', 'noeviction', 'appendfsync', 'everysec');
    expect(await ledger.durability()).toMatchObject({
      acceptable: true,
      statement: expect.stringContaining('two seconds'),
    });
    await admin.config('SET', 'appendonly', 'no');
    expect(await ledger.durability()).toMatchObject({ acceptable: false });
    await admin.acl('SETUSER', 'default', '-config');
    expect(await ledger.durability()).toMatchObject({
      acceptable: false,
      statement: expect.stringContaining('unknown'),
    });
  });

  it('stops trying when it is closed', async () => {
    const ledger = await open();
    await server.kill('SIGKILL');
    const pending = refusal(ledger.create(step(newOperation(ledger)), null));
    await sleep(100);
    await ledger.close();
    expect(await pending).toMatch(/closed/i);
  });
});
