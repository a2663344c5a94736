/** Slots that move and primaries that die, under load: no confirmed step is lost, and none is taken twice (B4, B12, G1). */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { OperationLedger } from '../../machines/operation-ledger.ts';
import { openLedger } from '../../persistence/index.ts';
import { parseRedisAddress } from '../../persistence/redis/address.ts';
import { connectTo } from '../../persistence/redis/client.ts';
import { eventually, startRedisCluster } from '../support/redis-cluster.ts';
import { startSentinels } from '../support/redis-sentinel.ts';
import { NAMESPACE, newOperation, step } from './steps.ts';
import { startWriters, type Writers } from './writers.ts';

describe('a ledger whose servers fail', { timeout: 90_000 }, () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close().catch(() => undefined);
  });
  const open = async (address: string): Promise<OperationLedger> => {
    const ledger = await openLedger(address, { namespace: NAMESPACE, partitions: 6, attemptMs: 1_000 });
    closers.push(() => ledger.close());
    return ledger;
  };
  const started = (ledger: OperationLedger, count: number): Writers => {
    const writers = startWriters(ledger, count);
    closers.push(async () => writers.abandon());
    return writers;
  };
  /** The writers go on: not only with what does not touch the fault. */
  const progress = async (writers: Writers): Promise<void> => {
    const from = writers.steps;
    for (const end = Date.now() + 40_000; writers.steps <= from + 100; await sleep(30)) {
      if (Date.now() > end) throw new Error(`the writers stopped at ${writers.steps} steps`);
    }
  };

  it('Redis Cluster: a slot moves, a master hands over, a master is killed', async () => {
    const cluster = await startRedisCluster({ replicasEach: 1 });
    closers.push(() => cluster.stop());
    const ledger = await open(cluster.url);
    expect((await ledger.durability()).statement).toMatch(/Cluster \(3 primaries\).*wait for a replica/);
    const writers = started(ledger, 6);
    await progress(writers);

    const slot = await cluster.slotOf(`toolop:1:{${NAMESPACE}/p00}:ops`);
    const before = await cluster.masterOf(slot);
    const masters = cluster.nodes.slice(0, 3);
    const target = masters.find(({ id }) => id !== before.id) as (typeof masters)[number];
    await cluster.moveSlot(slot, target);
    expect((await cluster.masterOf(slot)).id).toBe(target.id);
    await progress(writers);

    const successor = await cluster.replicaOf(target);
    await successor.admin.call('CLUSTER', 'FAILOVER');
    await eventually('it took over', async () => (await cluster.masterOf(slot)).id === successor.id);
    await progress(writers);

    const dying = await cluster.masterOf(await cluster.slotOf(`toolop:1:{${NAMESPACE}/p01}:ops`));
    await dying.server.kill('SIGKILL');
    await cluster.settled();
    await progress(writers);
    await dying.server.restart();
    await progress(writers);
    await writers.endAndJudge();
  });

  it('B4 Redis Cluster: a process that never saw a replica waits for the one that the cluster knows, also while its link is down', async () => {
    const cluster = await startRedisCluster({ replicasEach: 1 });
    closers.push(() => cluster.stop());
    const fresh = async (): Promise<OperationLedger> => {
      const patience = { attemptMs: 1_000, definiteWithinMs: 1_200, openWithinMs: 10_000 };
      const ledger = await openLedger(cluster.url, { namespace: NAMESPACE, partitions: 1, ...patience });
      closers.push(() => ledger.close());
      return ledger;
    };
    const create = async (ledger: OperationLedger) => (await ledger.create(step(newOperation(ledger)), null)).kind;
    await create(await fresh());
    const master = await cluster.masterOf(await cluster.slotOf(`toolop:1:{${NAMESPACE}/p00}:ops`));
    const replica = await cluster.replicaOf(master);
    // An empty replica is not offered to anybody.
    await eventually('the master knows what its replica has', async () =>
      JSON.stringify(await master.admin.call('CLUSTER', 'SLOTS')).includes(replica.id),
    );
    const { rejoin } = await cluster.part(replica, master);
    const starting = await fresh();
    await expect(create(starting)).rejects.toThrow(/0 of 1 replicas confirmed/);
    await rejoin();
    await eventually('it is confirmed', async () => (await create(starting)) === 'created');

    // One that is dead for the cluster will not take over.
    await replica.server.kill('SIGKILL');
    await eventually('it has failed', async () => {
      const lines = String(await master.admin.call('CLUSTER', 'NODES')).split('\n');
      return lines.some((line) => line.startsWith(replica.id) && line.includes('slave,fail '));
    });
    const late = await fresh();
    await eventually('it goes on without', async () => (await create(late)) === 'created');
  });

  it('Sentinel: the primary is killed and comes back as a replica', async () => {
    const set = await startSentinels();
    closers.push(() => set.stop());
    const ledger = await open(set.url);
    expect((await ledger.durability()).statement).toContain('Redis under Sentinel at redis+sentinel://');
    const heard = new Set<string>();
    ledger.onChange((operationId) => heard.add(operationId));
    const writers = started(ledger, 4);
    await progress(writers);
    await set.primary.kill('SIGKILL');
    await eventually('the replica took over', async () => (await set.primaryPort()) === set.replica.port);
    await progress(writers);
    await set.primary.restart();
    await progress(writers);
    heard.clear();
    await eventually('the nudges come from the new primary', async () => heard.size > 0);
    await writers.endAndJudge();
  });

  it('Sentinel: a failover that is announced while the client asks who is primary does not end the client for good', async () => {
    const set = await startSentinels();
    closers.push(() => set.stop());
    const open = () => {
      const client = connectTo(parseRedisAddress(set.url), { commandTimeoutMs: 1_000, givesUp: true });
      client.on('error', () => undefined);
      closers.push(async () => client.disconnect());
      return client;
    };
    const client = open();
    expect(client.status).toBe('connecting');
    // What ioredis does with the connector when it hears of the failover.
    (Reflect.get(client, 'connector') as { disconnect(): void }).disconnect();
    await eventually('it comes back', async () => (await client.ping()) === 'PONG');

    const left = open();
    left.disconnect();
    await sleep(500);
    expect(left.status).toBe('end');
  });
});
