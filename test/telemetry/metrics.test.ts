import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimsOf } from '../../machines/actor/facts.ts';
import { consumeReady, type Executor } from '../../machines/index.ts';
import { METRICS } from '../../machines/telemetry/catalogue.ts';
import { accepted, eventually, FAST, LEDGERS, NAMESPACE, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';
import { startTelemetry, type Telemetry } from './sdk.ts';

let telemetry: Telemetry;
beforeAll(() => {
  telemetry = startTelemetry();
});
afterAll(() => telemetry.stop());

const HERE = { 'toolop.namespace': NAMESPACE };
const value = async (name: keyof typeof METRICS, attributes = {}) => (await telemetry.value(name, attributes)) ?? 0;

/** How much a metric rises meanwhile. */
async function rise(name: keyof typeof METRICS, attributes: object, work: () => Promise<unknown>): Promise<number> {
  const before = await value(name, attributes);
  await work();
  return (await value(name, attributes)) - before;
}

describe.each(LEDGERS)('metrics on the %s ledger', (kind) => {
  const stage = useStage(kind);
  const working = async (executor: Executor, more: Parameters<typeof workCall>[2] = {}) => {
    const server = await stage().server();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }, more));
    const opened = await until(executor, id, (state) => state === 'WORKING.polling');
    return { server, id, opened };
  };

  it('G2 G3 G6: creation, submission, requests and polls of each server, commits and the end of an operation', async () => {
    const executor = await stage().rig.executor();
    const server = await stage().server();
    const { hostname, port } = new URL(server.url);
    const of = { 'server.address': hostname, 'server.port': Number(port), 'toolop.adapter': 'mcp-2025-11-25' };
    const call = workCall(server.endpoint, { ms: 150 });
    const requests = ['tasks/get', 'tools/call', 'tasks/result'] as const;
    const before = (await server.log()).counts;
    const polled = await value('toolop.server.polls', of);
    const asked = await value('toolop.server.requests', of);
    const ended = { ...HERE, 'toolop.outcome': 'completed' };
    const begun = { ...HERE, 'toolop.event': 'submit.begin' };
    expect(
      await rise('toolop.commits', begun, () =>
        rise('toolop.operation.duration', ended, () =>
          rise('toolop.operations.ended', ended, () =>
            rise('toolop.submissions', { ...HERE, 'toolop.repeated': false }, () =>
              rise('toolop.operations.created', HERE, async () => {
                const id = await accepted(executor, call);
                expect(await accepted(executor, call)).toBe(id);
                await executor.wait(id);
              }).then((created) => expect(created).toBe(1)),
            ).then((sent) => expect(sent).toBe(1)),
          ).then((over) => expect(over).toBe(1)),
        ).then((timed) => expect(timed).toBe(1)),
      ),
    ).toBe(1);
    const { counts } = await server.log();
    const seen = (method: (typeof requests)[number]) => (counts[method] ?? 0) - (before[method] ?? 0);
    expect((await value('toolop.server.polls', of)) - polled).toBe(seen('tasks/get'));
    expect((await value('toolop.server.requests', of)) - asked).toBe(
      requests.reduce((sum, method) => sum + seen(method), 0),
    );
    expect(await value('mcp.client.operation.duration', { 'mcp.method.name': 'tools/call' })).toBeGreaterThan(0);
    expect(await value('toolop.server.rate', HERE)).toBe(1_000);
  });

  it('G4: from a cancel to its evidence', async () => {
    const executor = await stage().rig.executor();
    const { id } = await working(executor);
    const cancelled = { ...HERE, 'toolop.status': 'cancelled' };
    const confirmed = await rise('toolop.cancel.confirmation', cancelled, async () => {
      await executor.cancel(id);
      await executor.wait(id);
    });
    expect(confirmed).toBe(1);
  });

  it('G1 F2 F4: a refused stale fact, by the guard that said no', async () => {
    const executor = await stage().rig.executor();
    const { id, opened } = await working(executor);
    const { context } = opened.snapshot;
    const stale = {
      type: 'poll.failed' as const,
      at: executor.env.time.now(),
      random: 0,
      reason: 'stale',
      claims: { ...claimsOf(context, 1), attempt: 99 },
    };
    const applied = await executor.env.store.apply(id, stale);
    const guards = applied.kind === 'refused' ? applied.refusal.guards : [];
    expect(guards.length).toBeGreaterThan(0);
    for (const guard of guards) {
      const counted = { ...HERE, 'toolop.guard': guard, 'toolop.event': 'poll.failed' };
      expect(await value('toolop.facts.refused', counted)).toBeGreaterThan(0);
      expect(await rise('toolop.facts.refused', counted, () => executor.env.store.apply(id, stale))).toBe(1);
    }
  });

  it('G1: a lost race', async () => {
    const executor = await stage().rig.executor({
      policy: { ...FAST, pollIntervalMs: 10_000, maxPollIntervalMs: 10_000, minPollIntervalMs: 10_000 },
    });
    const { id, opened } = await working(executor);
    const other = await stage().rig.executor();
    await other.stop();
    const failed = (random: number) => ({
      type: 'poll.failed' as const,
      at: executor.env.time.now(),
      random,
      reason: 'busy',
      claims: claimsOf(opened.snapshot.context, opened.snapshot.context.executionEpoch),
    });
    const lost = await rise('toolop.commits.lost', { ...HERE, 'toolop.event': 'poll.failed' }, async () => {
      await executor.env.store.apply(id, failed(0));
      // It remembers the record as it was before that step.
      await other.env.store.apply(id, failed(0.5), {}, opened);
    });
    expect(lost).toBe(1);
  });

  it('G5: the age of the oldest unknown outcome, how long it was unknown, and what is handed to a human', async () => {
    const executor = await stage().rig.executor();
    const { server, id } = await working(executor);
    const parked = { ...HERE, 'toolop.unknown': 'parked' };
    expect(await value('toolop.unknown.operations', parked)).toBe(0);
    const looked = { ...HERE, 'toolop.unknown': 'open', 'toolop.verdict': 'PARKED' };
    const handed = { ...HERE, 'toolop.reason': 'unknown-id' };
    const judged = { ...HERE, 'toolop.unknown': 'parked', 'toolop.verdict': 'CONCLUDING' };
    const lost = () => until(executor, id, (state) => state.startsWith('PARKED'));
    const lose = async () => {
      await server.control({ op: 'forget', taskId: 'last' });
      await lost();
    };
    expect(
      await rise('toolop.operations.parked', handed, () =>
        rise('toolop.unknown.duration', looked, lose).then((timed) => expect(timed).toBe(1)),
      ),
    ).toBe(1);
    await eventually(async () => (await value('toolop.unknown.oldest', parked)) > 0.1);
    expect(await value('toolop.unknown.operations', parked)).toBe(1);
    expect(
      await rise('toolop.unknown.duration', judged, async () => {
        await executor.reconcile(id, 'operator', { verb: 'give-up', note: 'looked' });
        await executor.wait(id);
      }),
    ).toBe(1);
    expect(await value('toolop.unknown.operations', parked)).toBe(0);
    expect(await value('toolop.unknown.oldest', parked)).toBe(0);
  });

  it('G6: the oldest ready row that is not acknowledged', async () => {
    const executor = await stage().rig.executor();
    const server = await stage().server();
    const { ledger } = stage();
    const drain = async () => {
      const stop = new AbortController();
      const consuming = consumeReady(
        { ledger, consumer: 'reader', idleMs: 20, handle: async () => undefined },
        stop.signal,
      );
      await eventually(async () => (await ledger.vitals()).readyAgeMs === 0);
      stop.abort();
      await consuming;
    };
    await drain();
    const id = await accepted(executor, workCall(server.endpoint, { ms: 1 }));
    await executor.wait(id);
    await eventually(async () => (await value('toolop.outbox.lag', HERE)) > 0.1);
    expect(await rise('toolop.outbox.acknowledged', { 'toolop.outcome': 'completed' }, drain)).toBe(1);
    expect(await value('toolop.outbox.lag', HERE)).toBe(0);
  });

  it('an executor that was stopped observes nothing any more', async () => {
    const ledger = await stage().rig.ledger();
    const asked = vi.spyOn(ledger, 'vitals');
    const executor = await stage().rig.executor({ ledger });
    await telemetry.collected();
    expect(asked).toHaveBeenCalledTimes(1);
    await executor.stop();
    await telemetry.collected();
    expect(asked).toHaveBeenCalledTimes(1);
  });
});

it('what is measured has the names, units and attributes of the catalogue, and no others', async () => {
  const scopes = (await telemetry.collected())?.scopeMetrics ?? [];
  const found = scopes.flatMap(({ metrics }) => metrics);
  expect(found.length).toBeGreaterThan(10);
  for (const { descriptor, dataPoints } of found) {
    const described = METRICS[descriptor.name as keyof typeof METRICS];
    expect(descriptor).toMatchObject({ unit: described.unit, description: described.description });
    for (const { attributes } of dataPoints) {
      for (const name of Object.keys(attributes)) expect(described.attributes).toContain(name);
    }
  }
});
