import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { Executor, type LogEntry } from '../../machines/index.ts';
import { LedgerUnavailable, type OperationLedger } from '../../machines/operation-ledger.ts';
import { type LedgerOptions, openLedger } from '../../persistence/index.ts';
import { startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { eventually } from '../support/redis-cluster.ts';
import { FAST } from '../support/rig.ts';
import { callsSeen } from '../support/stage.ts';
import { acceptStep, NAMESPACE, newOperation, step } from './steps.ts';

const creates = 'mcp-2025-11-25';

describe('steps that wait for a replica', () => {
  let primary: RedisServer;
  let replica: RedisServer;
  let onReplica: Redis;
  const closers: (() => Promise<unknown>)[] = [];

  const open = async (options: Partial<LedgerOptions> = {}): Promise<OperationLedger> => {
    const ledger = await openLedger(primary.url, {
      namespace: NAMESPACE,
      attemptMs: 1_000,
      definiteWithinMs: 1_200,
      ...options,
    });
    closers.push(() => ledger.close());
    return ledger;
  };
  const follow = async (): Promise<void> => {
    replica = await startRedis({
      args: ['--replicaof', '127.0.0.1', String(primary.port), '--repl-diskless-sync-delay', '0'],
    });
    onReplica = new Redis(replica.url, { retryStrategy: () => 50 });
    onReplica.on('error', () => undefined);
    await eventually('the replica follows', async () => (await onReplica.info()).includes('master_link_status:up'));
  };
  const unconfirmed = async (taken: Promise<unknown>): Promise<void> => {
    const error = await taken.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LedgerUnavailable);
    expect((error as Error).message).toMatch(/0 of 1 replicas confirmed.*can safely be sent again/);
  };

  beforeEach(async () => {
    primary = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
    await follow();
  });
  afterEach(async () => {
    await replica.kill('SIGCONT');
    for (const close of closers.splice(0).reverse()) await close().catch(() => undefined);
    onReplica.disconnect();
    await Promise.all([primary.stop(), replica.stop()]);
  });

  it('B4 B12: what must not be forgotten is unknown until a replica has it, and counts once', async () => {
    const ledger = await open();
    const [made, sent, done] = [newOperation(ledger), newOperation(ledger), newOperation(ledger)];
    await ledger.create(step(sent), null);
    await ledger.create(step(done), null);
    await replica.kill('SIGSTOP');
    const steps = [
      [made, () => ledger.create(first, null)],
      [sent, () => ledger.commit(sending)],
      [done, () => ledger.acceptTerminal(accepting)],
    ] as const;
    const first = step(made);
    const sending = { ...step(sent, { creates }), expectedRevision: '1' };
    const accepting = acceptStep(done, '1');
    await Promise.all(steps.map(([, take]) => unconfirmed(take())));
    // Everything else goes on.
    const other = newOperation(ledger);
    await unconfirmed(ledger.create(step(other), null));
    expect(await ledger.commit({ ...step(other), expectedRevision: '1' })).toMatchObject({ revision: '2' });
    await replica.kill('SIGCONT');
    for (const [id, take] of steps) {
      expect(await take()).toMatchObject({ kind: expect.stringMatching(/^(created|committed|accepted)$/) });
      const revision = id === made ? '1' : '2';
      expect(await ledger.load(id)).toMatchObject({ revision });
      expect((await ledger.readHistory(id)).length).toBe(Number(revision));
    }
    expect((await ledger.leaseReady('c', 5, 1000)).length).toBe(1);
  });

  it('B4: a record that no replica has confirmed is shown to nobody who would call it taken', async () => {
    const [maker, other] = [await open(), await open()];
    await maker.create(step(newOperation(maker)), null);
    await replica.kill('SIGSTOP');
    const operationId = newOperation(maker);
    const side = () => other.takeSide({ operationId, version: '0', side: null, why: '' });
    await unconfirmed(maker.create(step(operationId), null));
    await unconfirmed(side());
    await replica.kill('SIGCONT');
    expect(await side()).toMatchObject({ kind: 'record', record: { revision: '1' } });
  });

  it('is on the replica when it is acknowledged, many at a time', async () => {
    const ledger = await open({ partitions: 4, definiteWithinMs: 10_000 });
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const operationId = newOperation(ledger);
        await ledger.create(step(operationId), null);
        const key = `toolop:1:{${NAMESPACE}/${operationId.slice(0, 3)}}:op:${operationId}`;
        // The scripts were sent in full, so the replica has what they wrote when it has confirmed.
        expect((await onReplica.getBuffer(key))?.toString('latin1')).toMatch(/^1\n/);
      }),
    );
  });

  it('a primary that had a replica is not believed without one; a fresh history is', async () => {
    const ledger = await open();
    await ledger.create(step(newOperation(ledger)), null);
    await replica.kill('SIGKILL');
    await eventually('the primary is alone', async () => {
      const redis = new Redis(primary.url);
      const info = await redis.info('replication');
      redis.disconnect();
      return info.includes('connected_slaves:0');
    });
    await unconfirmed(ledger.create(step(newOperation(ledger)), null));
    // Another process has never seen a replica there.
    const fresh = await open();
    expect(await fresh.create(step(newOperation(fresh)), null)).toMatchObject({ kind: 'created' });
    await replica.restart();
    await eventually('it is confirmed again', async () => {
      const answer = await ledger.create(step(newOperation(ledger)), null);
      return answer.kind === 'created';
    });
  });

  it('notices a replica that comes later', async () => {
    onReplica.disconnect();
    await replica.stop();
    const ledger = await open();
    await ledger.create(step(newOperation(ledger)), null);
    await follow();
    await eventually('the replica is waited for', async () => {
      await replica.kill('SIGSTOP');
      const error = await ledger.create(step(newOperation(ledger)), null).catch((reason: unknown) => reason);
      await replica.kill('SIGCONT');
      return error instanceof LedgerUnavailable;
    });
  });

  it('waits for as many as are asked for, or for none', async () => {
    const two = await open({ waitForReplicas: 2 });
    await expect(two.create(step(newOperation(two)), null)).rejects.toThrow(/1 of 2 replicas confirmed/);
    await replica.kill('SIGSTOP');
    const none = await open({ waitForReplicas: 'none' });
    expect(await none.create(step(newOperation(none)), null)).toMatchObject({ kind: 'created' });
    await replica.kill('SIGCONT');
    const words = async (ledger: OperationLedger) => (await ledger.durability()).statement;
    expect(await words(two)).toContain('wait for a replica');
    expect(await words(none)).toContain('no step waits for a replica');
  });

  it('B4 G2: nothing is sent on a commit that a failover could forget, and once on one that it cannot', async () => {
    const server = await startScriptedServer();
    closers.push(() => server.stop());
    const ledger = await open({ definiteWithinMs: 800 });
    const logged: LogEntry[] = [];
    const executor = new Executor({
      ledger,
      namespace: NAMESPACE,
      protocols: [mcp20251125()],
      leaseMs: 1_500,
      policy: FAST,
      rate: { qps: 1_000, burst: 1_000 },
      log: (entry) => logged.push(entry),
    });
    closers.push(() => executor.stop());
    const call = {
      callNodeId: 'unconfirmed',
      endpoint: server.endpoint,
      tool: 'work',
      arguments: { script: { ms: 10 } },
    };
    const submitted = await executor.submit(call);
    expect(submitted.kind).toBe('accepted');
    await replica.kill('SIGSTOP');
    await executor.start();
    await eventually('the step is kept', async () =>
      logged.some(({ event, detail }) => event === 'fact.kept' && detail?.what === 'submit.begin'),
    );
    expect(await callsSeen(server)).toBe(0);
    await replica.kill('SIGCONT');
    if (submitted.kind !== 'accepted') return;
    expect((await executor.wait(submitted.operationId)).receipt.outcome).toBe('completed');
    expect(await callsSeen(server)).toBe(1);
  });
});
