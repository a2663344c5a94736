/** R3: the execution epoch raised, and creating switched off, under executors that are at work. */
import { describe, expect, it } from 'vitest';
import { adoptAll, type LogEntry, openOperationsByEpoch } from '../../machines/index.ts';
import { HeldLedger } from '../mutate/held-ledger.ts';
import { accepted, eventually, FAST, LEDGERS, until, workCall } from '../support/rig.ts';
import { callsSeen, useStage } from '../support/stage.ts';

const QUEUED = 'SUBMITTING.queued';
const SENDING = 'SUBMITTING.sending';

describe.each(LEDGERS)('the execution epoch of the fleet, on the %s ledger', (kind) => {
  const stage = useStage(kind);
  /** Waits for the commit that lets the call be sent, and keeps it. */
  const aboutToSend = async (log: LogEntry[] = []) => {
    const server = await stage().server();
    const held = new HeldLedger(await stage().rig.ledger());
    const executor = await stage().rig.executor({ ledger: held.ledger, log: (entry) => log.push(entry) });
    const { asked, letThrough } = held.hold(({ method, state }) => method === 'commit' && state === SENDING);
    const call = workCall(server.endpoint, { ms: 10 });
    const id = await accepted(executor, call);
    await asked;
    return { server, executor, call, id, letThrough };
  };

  it('R3: a commit that would send, on its way when the epoch is raised, is refused: the call is not sent by the old executor', async () => {
    const log: LogEntry[] = [];
    const { server, executor, call, id, letThrough } = await aboutToSend(log);
    const epoch = await stage().ledger.raiseEpoch();
    letThrough();
    await eventually(async () => executor.epochOver.aborted && (await executor.load(id))?.record.lease === null);
    expect((await executor.load(id))?.record.state).toBe(QUEUED);
    expect(await callsSeen(server)).toBe(0);
    expect(log.filter(({ event }) => event === 'epoch.over')).toEqual([
      expect.objectContaining({ level: 'warn', detail: expect.objectContaining({ current: epoch }) }),
    ]);
    expect(await executor.submit(workCall(server.endpoint, {}))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining(`the ledger is at ${epoch}`),
    });

    const current = await stage().rig.executor({ endpoints: [server.endpoint] });
    expect((await current.wait(id)).receipt).toMatchObject({ outcome: 'completed', executionEpoch: epoch });
    expect(await callsSeen(server)).toBe(1);
    // The same call is the same operation, asked of whomever.
    const again = { kind: 'accepted', operationId: id, existing: true };
    expect([await executor.submit(call), await current.submit(call)]).toEqual([again, again]);
  });

  it('R3: creating is switched off while a call is about to be sent: it waits on its queue, and goes when it is on again', async () => {
    const { server, executor, call, id, letThrough } = await aboutToSend();
    await stage().ledger.setCreation(false);
    try {
      letThrough();
      await until(executor, id, (_state, { snapshot }) => snapshot.context.failures > 1);
      expect((await executor.load(id))?.record.state).toBe(QUEUED);
      const refused = await executor.submit(workCall(server.endpoint, {}));
      expect(refused).toMatchObject({ kind: 'refused', next: expect.stringContaining('switched creation on') });
      expect(await executor.submit(call)).toMatchObject({ kind: 'accepted', existing: true });
      expect(await callsSeen(server)).toBe(0);
    } finally {
      await stage().ledger.setCreation(true);
    }
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(await callsSeen(server)).toBe(1);
  });

  it('R3 F8: what was sent before is told by its sender afterwards, and goes on under the new epoch', async () => {
    const server = await stage().server();
    await server.control({ op: 'fault', kind: 'hold', method: 'tools/call' });
    const old = await stage().rig.executor({ requestTimeoutMs: 20_000 });
    const id = await accepted(old, workCall(server.endpoint, { ms: 10 }));
    await eventually(async () => (await callsSeen(server)) === 1);
    const epoch = await stage().ledger.raiseEpoch();
    await eventually(async () => old.epochOver.aborted);
    // Its sender still has to say what came of it.
    expect(await adoptAll(stage().ledger)).toMatchObject({ epoch, sending: 1 });
    const current = await stage().rig.executor({ endpoints: [server.endpoint] });
    await server.control({ op: 'release' });
    expect((await current.wait(id)).receipt).toMatchObject({ outcome: 'completed', executionEpoch: epoch });
    expect(await callsSeen(server)).toBe(1);
  });

  it('R3: an executor begins under the epoch of its ledger; one that was sent to an older one serves nothing', async () => {
    const epoch = await stage().ledger.raiseEpoch();
    const current = await stage().rig.executor();
    expect(current.env.executionEpoch).toBe(epoch);
    const late = await stage().rig.executor({ executionEpoch: epoch - 1 });
    await eventually(async () => late.epochOver.aborted);
    expect(current.epochOver.aborted).toBe(false);
  });

  it('R3: adoption by batches is seen, may be interrupted, and goes on where it was', async () => {
    const server = await stage().server();
    const ledger = stage().ledger;
    const old = await stage().rig.executor();
    const ids = await Promise.all(
      Array.from({ length: 9 }, () => accepted(old, workCall(server.endpoint, { outcome: 'hold' }))),
    );
    for (const id of ids) await until(old, id, (state) => state === 'WORKING.polling');
    const epoch = await ledger.raiseEpoch();
    await eventually(async () => old.epochOver.aborted);
    await old.stop();
    const under = async () => (await openOperationsByEpoch(ledger)).byEpoch;
    expect((await under()).get(epoch - 1)).toEqual({ queued: 0, inFlight: 9, parked: 0 });

    const enough = new AbortController();
    const first = await adoptAll(ledger, { batch: 4, signal: enough.signal, onProgress: () => enough.abort() });
    const some = first.adopted.get(epoch - 1) ?? 0;
    expect(some).toBeLessThanOrEqual(4);
    expect((await under()).get(epoch)?.inFlight ?? 0).toBe(some);
    expect((await adoptAll(ledger, { batch: 4 })).adopted.get(epoch - 1)).toBe(9 - some);
    expect((await adoptAll(ledger)).adopted.size).toBe(0);
    expect((await under()).get(epoch)).toEqual({ queued: 0, inFlight: 9, parked: 0 });
    for (const id of ids) expect((await current(id)).executionEpoch).toBe(epoch);

    const next = await stage().rig.executor({ endpoints: [server.endpoint] });
    for (const task of await server.tasks()) await server.control({ op: 'complete', taskId: task.taskId });
    for (const id of ids) expect((await next.wait(id)).receipt).toMatchObject({ executionEpoch: epoch });
    expect(await callsSeen(server)).toBe(9);

    async function current(id: string) {
      const opened = await old.load(id);
      if (!opened) throw new Error('gone');
      return opened.snapshot.context;
    }
  });
});

/** What becomes of a process that was stopped is the same on every ledger. */
describe('processes that were stopped while the epoch was raised', () => {
  const stage = useStage('redis');

  it('R3: a process that was stopped after that commit, and continues after the raise, sends nothing', async () => {
    const server = await stage().server();
    const call = workCall(server.endpoint, { ms: 10 });
    // Its lease outlasts the stop: it is not the end of the lease that keeps it from sending.
    const old = stage().process({ call, policy: FAST, freezeAt: SENDING, thawAfterMs: 1_500, leaseMs: 30_000 });
    await old.frozen();
    const epoch = await stage().ledger.raiseEpoch();
    await old.line(({ log }) => (log as LogEntry | undefined)?.event === 'epoch.over');
    const current = await stage().rig.executor();
    const id = current.operationIdOf(call);
    await until(current, id, (state, { record }) => state === QUEUED && record.lease === null);
    expect(await callsSeen(server)).toBe(0);
    current.serve(server.endpoint);
    expect((await current.wait(id)).receipt).toMatchObject({ outcome: 'completed', executionEpoch: epoch });
    expect(await callsSeen(server)).toBe(1);
  });

  it('R3: a process that was stopped (SIGSTOP) right before that commit sends nothing either', async () => {
    const server = await stage().server();
    const call = workCall(server.endpoint, { ms: 10 });
    const old = stage().process({ call, policy: FAST, pauseIn: { hook: 'creation', nth: 2 }, leaseMs: 30_000 });
    await old.line((line) => 'paused' in line);
    await stage().ledger.raiseEpoch();
    old.signal('SIGCONT');
    await old.line(({ log }) => (log as LogEntry | undefined)?.event === 'epoch.over');
    const current = await stage().rig.executor();
    await until(current, current.operationIdOf(call), (state, { record }) => state === QUEUED && record.lease === null);
    expect(await callsSeen(server)).toBe(0);
    current.serve(server.endpoint);
    await current.wait(current.operationIdOf(call));
    expect(await callsSeen(server)).toBe(1);
  });

  it('F8 R3: what an executor that was stopped brings after its record was adopted is kept, and verified by a request of its own', async () => {
    const server = await stage().server();
    await server.control({ op: 'fault', kind: 'hold', method: 'tools/call' });
    const call = workCall(server.endpoint, { ms: 10 });
    const old = stage().process({ call, policy: FAST, requestTimeoutMs: 60_000, leaseMs: 1_000 });
    await eventually(async () => (await callsSeen(server)) === 1, 30_000);
    old.signal('SIGSTOP');
    const epoch = await stage().ledger.raiseEpoch();
    const current = await stage().rig.executor({ endpoints: [server.endpoint] });
    const id = current.operationIdOf(call);
    // Nobody may send it again, and this server has no look-up.
    await until(current, id, (state) => state === 'PARKED.waiting');
    await server.control({ op: 'release' });
    await eventually(async () => (await server.log()).created.length === 1);
    old.signal('SIGCONT');
    const { receipt } = await eventually(() => current.outcome(id), 20_000);
    expect(receipt).toMatchObject({ outcome: 'completed', executionEpoch: epoch });
    expect(await stage().ledger.readHistory(id)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: 'submit.acknowledged', from: 'PARKED.waiting', to: 'PARKED.searching' }),
        expect.objectContaining({ event: 'lookup.found', from: 'PARKED.searching', to: 'WORKING.polling' }),
      ]),
    );
    expect(await callsSeen(server)).toBe(1);
  });
});
