/** The bench itself: its arithmetic, and that everybody whom it compares does the same job. Figures: `npm run bench`. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Executor } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { openLedger } from '../../persistence/index.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { eventually } from '../support/rig.ts';
import { answering, ENDPOINT, FREE_RATE, NAMESPACE } from './answering.ts';
import { bullmq } from './job/bullmq.ts';
import { ARGUMENTS, type OpenContender, RESULT } from './job/contender.ts';
import { FLOOR_KEYS, floor } from './job/floor.ts';
import { AT_ONCE, ours, WAITING } from './job/ours.ts';
import { usageBetween, usageOf } from './redis-usage.ts';
import { sideBySide } from './side-by-side.ts';
import { difference, median, percentile, ratios, total } from './statistics.ts';
import { syncsIn } from './syncs.ts';
import { tableOf, told } from './table.ts';
import { Copier } from './waiting/copies.ts';
import { bytesOf, sampleOf, writeAlike } from './waiting/records.ts';

describe('the arithmetic', () => {
  it('takes the middle, or the mean of the two in the middle, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([10, 9, 1, 2])).toBe(5.5);
    expect(() => median([])).toThrow(RangeError);
  });
  it('takes the smallest value that the share does not exceed', () => {
    const hundred = Array.from({ length: 100 }, (_, nth) => 100 - nth);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile([7], 0.99)).toBe(7);
    expect(() => percentile([], 0.5)).toThrow(RangeError);
  });
  it('compares run with run, so that a slow minute changes no ratio', () => {
    expect(median(ratios([50, 5, 500], [100, 10, 1_000]))).toBe(0.5);
    expect(() => ratios([1], [1, 2])).toThrow(/same run/);
    expect(() => ratios([1], [0])).toThrow(/nothing to be compared/);
  });
  it('counts what came in between', () => {
    expect(difference({ get: 5, set: 2, new: 1 }, { get: 3, set: 2 })).toEqual({ get: 2, new: 1 });
    expect(total({ get: 2, new: 1 })).toBe(3);
  });
  it('counts a sync once, also when its line was cut in two', () => {
    const listing =
      '12 fdatasync(7)  = 0\n13 fsync(9 <unfinished ...>\n13 <... fsync resumed>) = 0\n12 fdatasync(7) = 0\n';
    expect(syncsIn(listing)).toBe(3);
  });
  it('writes medians with three digits, and figures of one kind in one table', () => {
    expect([told([1_234.5]), told([0.123_456]), told([12.345]), told([0])]).toEqual(['1,235', '0.123', '12.3', '0']);
    const text = tableOf({
      measurements: [
        { what: 'a', who: 'ours', figures: { 'jobs/s': [1, 2, 300] } },
        { what: 'b', who: 'explore', figures: { 'states/s': [7] } },
        { what: 'a', who: 'floor', figures: { 'jobs/s': [4], 'syncs/job': [6] } },
      ],
      notes: ['a note'],
    });
    expect(text.split('\n')).toEqual([
      '          jobs/s  syncs/job',
      'a  ours        2',
      'a  floor       4          6',
      '            states/s',
      'b  explore         7',
      '  a note',
    ]);
  });
});

describe('side by side', () => {
  it('measures everybody once per run, each first in turn, and drops the first run', async () => {
    const order: string[] = [];
    const { signal } = new AbortController();
    const figures = await sideBySide(['a', 'b'], { runs: 2, signal }, async (name, run) => {
      order.push(`${name}${run}`);
      return { value: run * (name === 'a' ? 1 : 10) };
    });
    expect(order).toEqual(['a0', 'b0', 'b1', 'a1', 'a2', 'b2']);
    expect(figures).toEqual({ a: { value: [1, 2] }, b: { value: [10, 20] } });
  });
  it('stops when it is interrupted', async () => {
    const interrupt = new AbortController();
    const measured = sideBySide(['a'], { runs: 5, signal: interrupt.signal }, async () => {
      interrupt.abort(new Error('enough'));
      return { value: 1 };
    });
    await expect(measured).rejects.toThrow('enough');
  });
});

describe('on a Redis', () => {
  const JOBS = 12;
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis({ args: ['--appendfsync', 'everysec'] });
    redis = new Redis(server.url, { protocol: 2 });
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    await redis.flushall();
  });

  /** All jobs at a time; answers how often each was delivered. */
  async function doAll(open: OpenContender): Promise<readonly number[]> {
    const contender = await open({ url: server.url, inFlight: JOBS, recordBytes: 500 });
    const deliveries = Array.from({ length: JOBS }, () => 0);
    try {
      await Promise.all(
        deliveries.map((_, nth) =>
          contender.job(`n${nth}`, () => {
            deliveries[nth] = (deliveries[nth] ?? 0) + 1;
          }),
        ),
      );
    } finally {
      await contender.close();
    }
    return deliveries;
  }
  const once = Array.from({ length: JOBS }, () => 1);

  it('the floor delivers each job once: one receipt, one mark, no row and no due time left', async () => {
    expect(await doAll(floor)).toEqual(once);
    const { receipts, consumed, ready, queue, leases, due } = FLOOR_KEYS;
    expect([await redis.hlen(receipts), await redis.hlen(consumed)]).toEqual([JOBS, JOBS]);
    expect(await redis.exists(ready, queue, leases, due)).toBe(0);
    const job = await redis.hgetall(FLOOR_KEYS.job('n0'));
    expect(job).toMatchObject({ rev: '4', req: JSON.stringify(ARGUMENTS), res: JSON.stringify(RESULT) });
    expect(job.rec).toHaveLength(500);
  });

  it('the floor takes six round trips a job, and refuses a job that is there', async () => {
    const contender = await floor({ url: server.url, inFlight: 1, recordBytes: 500 });
    await contender.job('first', () => undefined);
    const before = usageOf(await redis.info('all'));
    await contender.job('second', () => undefined);
    const { calls, aofBytes, bytesIn } = usageBetween(before, usageOf(await redis.info('all')));
    expect(calls).toMatchObject({ evalsha: 6 });
    expect(calls.info).toBeUndefined();
    expect(Math.min(aofBytes, bytesIn)).toBeGreaterThan(4 * 500);
    await expect(contender.job('second', () => undefined)).rejects.toThrow(/create/);
    await contender.close();
  });

  it.each([
    ['at once', AT_ONCE],
    ['waiting', WAITING],
  ])('ours delivers each job once, after three polls (%s)', async (_, policy) => {
    expect(await doAll(ours(policy))).toEqual(once);
    const ledger = await openLedger(server.url, { namespace: NAMESPACE });
    const { operations } = await ledger.list({ limit: 100 });
    expect(operations.map(({ state }) => state)).toEqual(once.map(() => 'ACCEPTED'));
    expect(await ledger.audit()).toEqual([]);
    expect(await ledger.leaseReady('nobody', 10, 1_000)).toEqual([]);
    const [first] = operations;
    const { context } = JSON.parse(first?.snapshot ?? '{}') as { context: { pollCursor: number; result: unknown } };
    expect(context.pollCursor).toBeGreaterThanOrEqual(3);
    expect(context.result).toMatchObject({ bytes: 200, isError: false });
    await ledger.close();
  });

  it.each([false, true])('bullmq delivers each job once, each step saved (waiting: %s)', async (waits) => {
    expect(await doAll(bullmq(waits))).toEqual(once);
    expect(await redis.zcard('bull:jobs:completed')).toBe(JOBS);
    expect(await redis.zcard('bull:results:completed')).toBe(JOBS);
    const data = JSON.parse((await redis.hget('bull:jobs:n0', 'data')) ?? '{}');
    expect(data).toMatchObject({ step: 'fetch', polls: 2, taskId: 'task-n0' });
    const { result } = JSON.parse((await redis.hget('bull:results:r-n0', 'data')) ?? '{}');
    expect(result).toEqual(RESULT);
  });

  it('a waiting operation that is written in bulk is as the executor writes it', async () => {
    const ledger = await openLedger(server.url, { namespace: NAMESPACE });
    const far = 3_600_000;
    const { protocol } = answering({ workingPolls: Number.POSITIVE_INFINITY, pollIntervalMs: far });
    const options = { ledger, namespace: NAMESPACE, protocols: [protocol], rate: FREE_RATE };
    const executor = await new Executor({ ...options, policy: { maxPollIntervalMs: far } }).start();
    const call = { callNodeId: 'sample-node', endpoint: ENDPOINT, tool: 'report', arguments: ARGUMENTS };
    const operationId = executor.operationIdOf(call);
    await executor.submit(call);
    await eventually(async () => {
      const opened = await executor.load(operationId);
      return opened && statePath(opened.snapshot) === 'WORKING.polling' && opened.record.lease === null;
    });
    const sample = await sampleOf(ledger, operationId);
    await executor.stop();

    // Copied inside of Redis: the same in every key. What is packed leans on the id of its operation, so only its lines are its own.
    const copier = await Copier.of(redis, ledger, sample);
    const keysBefore = await redis.dbsize();
    const copyId = await copier.write(100, 700, () => undefined);
    const copy = await ledger.load(copyId);
    expect([copy?.revision, copy?.scope, copy?.dueAt]).toEqual([
      sample.record.revision,
      sample.record.scope,
      sample.record.dueAt,
    ]);
    expect(total(await bytesOf(redis, copyId))).toBe(total(await bytesOf(redis, operationId)));
    const ownKeys = Object.keys(await bytesOf(redis, operationId)).length;
    expect(await redis.dbsize()).toBeGreaterThanOrEqual(keysBefore + 600 * ownKeys);
    const listed = await ledger.list({ limit: 1_000 });
    expect(listed.operations).toHaveLength(601);
    expect(new Set(listed.operations.map(({ state }) => state))).toEqual(new Set([sample.record.state]));

    const bulkId = await writeAlike(ledger, sample, 17);
    expect(bulkId).not.toBe(operationId);
    const bulk = await sampleOf(ledger, bulkId);
    expect(bulk.history).toEqual(sample.history);
    expect(bulk.request).toBe(sample.request);
    const { snapshot, operationId: _, ...rest } = bulk.record;
    expect(sample.record).toMatchObject(rest);
    expect(snapshot).toHaveLength(sample.record.snapshot.length);
    const [written, wanted] = [await bytesOf(redis, bulkId), await bytesOf(redis, operationId)];
    expect(Object.keys(written).sort()).toEqual(Object.keys(wanted).sort());
    expect(Math.abs(total(written) / total(wanted) - 1)).toBeLessThan(0.03);

    // Due in the past, it can be claimed at once; the sample, which is due later, cannot.
    const dueId = await writeAlike(ledger, sample, 18, 1_000);
    const scopes = [sample.record.scope];
    const { claimed } = await ledger.claimDue({ owner: 'x', scopes, limit: 10, leaseMs: 1_000, executionEpoch: 1 });
    expect(claimed.map((record) => record.operationId)).toEqual([dueId]);
    await ledger.close();
  });
});
