/** Servers slower than the lease, and executors that are stopped (SIGSTOP) in the middle of an effect and continued. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Executor, OperationLedger, ToolCall } from '../../../machines/index.ts';
import type { Script, ScriptedServer } from '../../kit/servers/mcp-2025-11-25.ts';
import { answersTo, taskIdOf } from '../../support/bench.ts';
import type { ExecutorProcess, Line } from '../../support/processes.ts';
import { eventually, FAST, type LedgerKind, until, workCall } from '../../support/rig.ts';
import { callsSeen, pathOf, type Stage, useStage } from '../../support/stage.ts';

const LEASE_MS = 300;
// Each test waits out ten leases beside processes that have to start first.
vi.setConfig({ testTimeout: 60_000 });

export const slowness = (kind: LedgerKind) =>
  describe(`slowness on the ${kind} ledger`, () => {
    const stage = useStage(kind);
    const owners: ExecutorProcess[] = [];
    let addresses = 0;
    const start = (orders: Parameters<Stage['process']>[0]): ExecutorProcess => {
      // Longer than any stop: what comes late is the answer, and not the end of the waiting for it.
      const owner = stage().process({ leaseMs: LEASE_MS, requestTimeoutMs: 30_000, policy: FAST, ...orders });
      owners.push(owner);
      return owner;
    };
    // Also after a failure: the next test may have its server.
    afterEach(() => Promise.all(owners.splice(0).map((owner) => owner.kill())));

    it('a server whose every answer takes three leases: the operation ends, nothing is polled twice at once', async () => {
      const server = await stage().server();
      for (const method of ['tools/call', 'tasks/get', 'tasks/result']) {
        await server.control({ op: 'fault', kind: 'delay', ms: 3 * LEASE_MS, method, times: 100 });
      }
      const call = workCall(server.endpoint, { ms: 1_500 });
      const executors = await Promise.all(
        [0, 1].map(() =>
          stage().rig.executor({ leaseMs: LEASE_MS, requestTimeoutMs: 10_000, endpoints: [server.endpoint] }),
        ),
      );
      const [first] = executors;
      if (!first) throw new Error('no executor');
      const answer = await first.submit(call);
      expect(answer.kind).toBe('accepted');
      const id = first.operationIdOf(call);
      const { receipt } = await eventually(() => first.outcome(id), 25_000);
      expect(receipt.outcome).toBe('completed');
      const { requests, counts } = await server.log();
      expect(counts['tools/call']).toBe(1);
      const polls = requests.filter(({ method }) => method === 'tasks/get').map(({ at }) => at);
      for (const [index, at] of polls.entries()) {
        // An answer takes three leases: a poll that starts earlier than that after the one before overlaps it.
        if (index > 0) expect(at - (polls[index - 1] ?? 0)).toBeGreaterThanOrEqual(3 * LEASE_MS - 50);
      }
    });

    const stops: readonly {
      readonly effect: string;
      readonly method: string;
      readonly script: Script;
      readonly ends: RegExp;
      readonly cancel?: boolean;
    }[] = [
      { effect: 'submit', method: 'tools/call', script: { ms: 20 }, ends: /^(ACCEPTED|PARKED\.)/ },
      { effect: 'poll', method: 'tasks/get', script: { ms: 20 }, ends: /^ACCEPTED$/ },
      { effect: 'fetchResult', method: 'tasks/result', script: { ms: 20 }, ends: /^ACCEPTED$/ },
      {
        effect: 'sendCancel',
        method: 'tasks/cancel',
        script: { outcome: 'hold' },
        ends: /^CANCELLED_ACCEPTED$/,
        cancel: true,
      },
    ];
    it.each(stops)(
      'the owner is stopped for ten leases in the middle of $effect and continued: no second tools/call',
      async ({ method, script, ends, cancel }) => {
        const server = await stage().server();
        await server.control({ op: 'fault', kind: 'delay', ms: 2 * LEASE_MS, method });
        const call = workCall(server.endpoint, script);
        const owner = start({ call });
        const reader = await stage().rig.executor();
        const id = reader.operationIdOf(call);
        if (cancel) {
          await until(reader, id, (state) => state === 'WORKING.polling');
          await reader.cancel(id);
        }
        await eventually(async () => ((await server.log()).counts[method] ?? 0) >= 1, 15_000);
        // Opened before the stop, and not waited for during it: a process that is stopped inside a transaction of the
        // embedded ledger holds its lock until it goes on.
        const ledger = await stage().rig.ledger();
        owner.signal('SIGSTOP');
        const starting = stage().rig.executor({ ledger, leaseMs: LEASE_MS, endpoints: [server.endpoint] });
        await delay(10 * LEASE_MS);
        owner.signal('SIGCONT');
        const other = await starting;
        await until(other, id, (state) => ends.test(state), 15_000);
        if (method === 'tools/call') {
          // What the stopped sender brings back late is evidence: the parked operation goes on to its end.
          await until(other, id, (state) => state === 'ACCEPTED', 15_000);
        }
        expect(await callsSeen(server)).toBe(1);
        expect(await stage().ledger.audit()).toEqual([]);
        if (method === 'tools/call') expect(await pathOf(stage().ledger, id)).toContain('SUBMISSION_UNKNOWN');
      },
    );

    /** An endpoint is its URL: nobody takes over what another test left. */
    const addressOf = ({ url }: ScriptedServer) => ({ kind: 'http' as const, url: `${url}/${addresses++}` });
    /**
     * Lets ten leases of a stopped owner pass, with another executor beside it, and continues it. The other is not waited
     * for before that: on the embedded ledger an owner that was stopped inside a transaction holds its lock until then.
     */
    async function tenLeases(
      owner: ExecutorProcess,
      { endpoint }: ToolCall,
      ledger?: OperationLedger,
    ): Promise<Executor> {
      const starting = stage().rig.executor({
        ledger: ledger ?? (await stage().rig.ledger()),
        leaseMs: LEASE_MS,
        endpoints: [endpoint],
      });
      await delay(10 * LEASE_MS);
      owner.signal('SIGCONT');
      return starting;
    }
    /** What the owner brought back, and the ledger's answer: it changes nothing. */
    const refused = async (owner: ExecutorProcess, type: RegExp): Promise<string> => {
      const fits = (line: Line) => logOf(line)?.event === 'event.refused' && type.test(logOf(line)?.detail?.type ?? '');
      return logOf(await owner.line(fits))?.detail?.why ?? '';
    };
    const entries = async (id: string, to: string) =>
      (await stage().ledger.readHistory(id)).filter((entry) => entry.to === to && entry.from !== to);
    const idOf = async (call: ToolCall) => (await stage().rig.executor()).operationIdOf(call);

    it('B4: stopped in the middle of beginSubmit: the other sends the call, the late submit.begin is refused', async () => {
      const server = await stage().server();
      const call = workCall(addressOf(server), { ms: 20 });
      const pauseIn = { hook: 'creation', nth: 2 } as const;
      const owner = start({ call, pauseIn });
      await owner.line((line) => 'paused' in line);
      const other = await tenLeases(owner, call);
      const id = other.operationIdOf(call);
      await until(other, id, (state) => state === 'ACCEPTED');
      expect(await refused(owner, /^submit\.begin$/)).toContain('the operation is over');
      expect(await entries(id, 'SUBMITTING.sending')).toMatchObject([{ executor: other.env.executorId }]);
      expect(await callsSeen(server)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    it('B13.2: stopped in the middle of requeue: one further attempt, not two', async () => {
      const server = await stage().server({ lookup: true });
      await server.control({ op: 'fault', kind: 'resetBefore', method: 'tools/call' });
      const call = workCall(addressOf(server), { ms: 20 });
      const pauseIn = { hook: 'creation', nth: 1, after: 'NOT_FOUND_SAFE' } as const;
      const owner = start({ call, pauseIn });
      await owner.line((line) => 'paused' in line);
      expect(owner.states.at(-1)).toBe('NOT_FOUND_SAFE');
      const other = await tenLeases(owner, call);
      const id = other.operationIdOf(call);
      const { snapshot } = await until(other, id, (state) => state === 'ACCEPTED');
      expect(await refused(owner, /^submit\.requeue$/)).toContain('the operation is over');
      expect(snapshot.context.attempt).toBe(2);
      expect(await entries(id, 'SUBMITTING.sending')).toHaveLength(2);
      expect(await callsSeen(server)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    const lookups = [
      { finds: 'found', fault: 'reset', attempt: 1, delayed: 1 },
      // The other's look-up is delayed, too: both are answered before the next attempt creates something.
      { finds: 'neverCreated', fault: 'resetBefore', attempt: 2, delayed: 2 },
    ] as const;
    it.each(lookups)(
      'B4 B13: stopped in the middle of lookup ($finds): the late answer has another claim and changes nothing',
      async ({ fault, attempt, delayed }) => {
        const server = await stage().server({ lookup: true });
        const method = 'dev.toolop/lookup';
        await server.control({ op: 'fault', kind: fault, method: 'tools/call' });
        await server.control({ op: 'fault', kind: 'delay', ms: 2 * LEASE_MS, method, times: delayed });
        const call = workCall(addressOf(server), { outcome: 'hold' });
        const owner = start({ call });
        const ledger = await stage().rig.ledger();
        await eventually(async () => ((await server.log()).counts[method] ?? 0) >= 1, 15_000);
        owner.signal('SIGSTOP');
        const other = await tenLeases(owner, call, ledger);
        const id = other.operationIdOf(call);
        const { snapshot } = await until(other, id, (state) => state === 'WORKING.polling');
        expect(snapshot.context.attempt).toBe(attempt);
        expect(await refused(owner, /^lookup\./)).toContain('WORKING');
        await server.control({ op: 'complete', taskId: 'last' });
        await until(other, id, (state) => state === 'ACCEPTED');
        expect(await entries(id, 'WORKING.polling')).toMatchObject([{ executor: other.env.executorId }]);
        expect(await callsSeen(server)).toBe(1);
        expect(await stage().ledger.audit()).toEqual([]);
      },
    );

    it('stopped in the middle of poll: the terminal state it brings back late is evidence, and used', async () => {
      const server = await stage().server();
      const method = 'tasks/get';
      await server.control({ op: 'fault', kind: 'delay', ms: 2 * LEASE_MS, method });
      const call = workCall(addressOf(server), { ms: 20 });
      const owner = start({ call });
      const ledger = await stage().rig.ledger();
      await eventually(async () => ((await server.log()).counts[method] ?? 0) >= 1, 15_000);
      owner.signal('SIGSTOP');
      // From here on nobody else gets an answer: only the stopped owner knows how it ended.
      await server.control({ op: 'fault', kind: 'http', status: 503, method, times: 10_000 });
      const other = await tenLeases(owner, call, ledger);
      const id = other.operationIdOf(call);
      await until(other, id, (state) => state === 'ACCEPTED');
      const [observed] = await entries(id, 'TERMINAL_OBSERVED.outcome');
      expect(observed?.executor).not.toBe(other.env.executorId);
      expect(await callsSeen(server)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    it('F2: stopped in the middle of poll: the passing status it brings back late is refused by matchesPollCursor', async () => {
      const server = await stage().server();
      const method = 'tasks/get';
      await server.control({ op: 'fault', kind: 'delay', ms: 2 * LEASE_MS, method });
      const call = workCall(addressOf(server), { outcome: 'hold' });
      const owner = start({ call });
      const ledger = await stage().rig.ledger();
      await eventually(async () => ((await server.log()).counts[method] ?? 0) >= 1, 15_000);
      owner.signal('SIGSTOP');
      const other = await tenLeases(owner, call, ledger);
      expect(await refused(owner, /^poll\.status$/)).toContain('matchesPollCursor');
      await server.control({ op: 'complete', taskId: 'last' });
      await until(other, other.operationIdOf(call), (state) => state === 'ACCEPTED');
      expect(await callsSeen(server)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    /** While the other holds the operation; then it leaves, and the owner, which still has the question, goes on. */
    async function onlyOwnerCanAnswer(owner: ExecutorProcess, other: Executor, server: ScriptedServer, id: string) {
      const { snapshot } = await until(other, id, (state) => state === 'WORKING.listening');
      const taskId = snapshot.context.taskId ?? '';
      await delay(2 * LEASE_MS);
      expect(await answersTo(server, taskId)).toEqual([]);
      await other.stop();
      await owner.line((line) => 'outcome' in line);
      expect(await answersTo(server, taskId)).toHaveLength(1);
      expect(await callsSeen(server)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    }
    const inputs = [
      { effect: 'holdInput, as the human answers', stop: { pauseIn: { hook: 'question', nth: 1 } }, asked: 2 },
      // Recorded and provably not on the wire: sent later, without asking again.
      { effect: 'sendInput', stop: { freezeAt: 'INPUT_REQUIRED.replied', thawAfterMs: 10 * LEASE_MS }, asked: 1 },
      // Only its writer knows that it was not written: the human is asked again.
      { effect: 'deliverInput', stop: { freezeAt: 'INPUT_REQUIRED.sending', thawAfterMs: 10 * LEASE_MS }, asked: 2 },
    ] as const;
    it.each(inputs)(
      'B7: stopped in the middle of $effect: not written without the lease, and answered once in the end',
      async ({ stop, asked }) => {
        const server = await stage().server();
        const call = workCall(addressOf(server), { ask: 1, ms: 20 });
        const owner = start({ call, answerWith: { word: 'yes' }, ...stop });
        await owner.line((line) => 'paused' in line || 'frozen' in line);
        const other = await tenLeases(owner, call);
        const id = other.operationIdOf(call);
        await onlyOwnerCanAnswer(owner, other, server, id);
        expect(await entries(id, 'INPUT_REQUIRED.awaiting')).toHaveLength(asked);
      },
    );

    it('B7: stopped while the answer is on the wire: nobody is asked again, nothing is written again', async () => {
      const server = await stage().server();
      const proxy = await stage().proxy(server.port);
      const call = workCall({ kind: 'http', url: proxy.url }, { ask: 1, ms: 20 });
      const pauseIn = { hook: 'question', nth: 1 } as const;
      const answerWith = { word: 'yes' };
      const owner = start({ call, answerWith, pauseIn });
      const ledger = await stage().rig.ledger();
      await owner.line((line) => 'paused' in line);
      await proxy.setMode({ kind: 'delay', ms: 2 * LEASE_MS });
      await eventually(async () => {
        // Every time: it says that it pauses right before it does.
        owner.signal('SIGCONT');
        return (await server.log()).answers.length === 1;
      });
      owner.signal('SIGSTOP');
      await proxy.setMode({ kind: 'pass' });
      const other = await tenLeases(owner, call, ledger);
      const id = other.operationIdOf(call);
      await until(other, id, (state) => state === 'ACCEPTED');
      await owner.line((line) => 'outcome' in line);
      expect((await server.log()).answers).toHaveLength(1);
      const path = await pathOf(stage().ledger, id);
      expect(path.slice(path.lastIndexOf('INPUT_REQUIRED.sending'))).not.toContain('INPUT_REQUIRED.awaiting');
      expect(await callsSeen(server)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    it('B7: stopped in the middle of listen, the question comes meanwhile: it is not lost, and answered once', async () => {
      const server = await stage().server();
      const call = workCall(addressOf(server), { outcome: 'hold' });
      const owner = start({ call, answerWith: { word: 'yes' } });
      const ledger = await stage().rig.ledger();
      const id = await idOf(call);
      const reader = await stage().rig.executor();
      const taskId = taskIdOf(await until(reader, id, (state) => state === 'WORKING.polling'));
      await server.control({ op: 'status', taskId, status: 'input_required' });
      await eventually(async () => ((await server.log()).counts['tasks/result'] ?? 0) >= 1, 15_000);
      owner.signal('SIGSTOP');
      // The first to listen gets it, and nobody else ever does.
      await server.control({ op: 'ask', taskId, message: 'now?' });
      const other = await tenLeases(owner, call, ledger);
      // It has no lease any more: it may tell what was asked, and writes nothing.
      await delay(2 * LEASE_MS);
      expect(await answersTo(server, taskId)).toEqual([]);
      await other.stop();
      await eventually(async () => (await answersTo(server, taskId)).length > 0);
      await server.control({ op: 'complete', taskId });
      await owner.line((line) => 'outcome' in line);
      expect(await answersTo(server, taskId)).toHaveLength(1);
      expect(await callsSeen(server)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });

    const acceptances = [
      { moment: 'in the middle of', stop: { pauseIn: { hook: 'output', nth: 1 } } },
      { moment: 'right after', stop: { freezeAt: 'ACCEPTED', thawAfterMs: 10 * LEASE_MS } },
    ] as const;
    it.each(acceptances)('B12: stopped $moment acceptTerminal: one receipt, the same for both', async ({ stop }) => {
      const server = await stage().server();
      const call = workCall(addressOf(server), { ms: 20 });
      const owner = start({ call, ...stop });
      await owner.line((line) => 'paused' in line || 'frozen' in line);
      const other = await tenLeases(owner, call);
      const id = other.operationIdOf(call);
      const outcome = await eventually(() => other.outcome(id));
      expect(await owner.line((line) => 'outcome' in line)).toEqual({ outcome });
      await settled(owner, stop);
      expect(owner.lines.filter((line) => logOf(line)?.level === 'error')).toEqual([]);
      expect(await other.outcome(id)).toEqual(outcome);
      expect(await entries(id, 'ACCEPTED')).toHaveLength(1);
      expect(await callsSeen(server)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });
    const settled = (owner: ExecutorProcess, stop: object) =>
      'pauseIn' in stop ? refused(owner, /^terminal\.accept$/) : owner.line((line) => 'outcome' in line);

    it('B9 B12: stopped in the middle of acceptTerminal of a cancelled call: one receipt, the same for both', async () => {
      const server = await stage().server();
      const method = 'tasks/result';
      await server.control({ op: 'fault', kind: 'delay', ms: 2 * LEASE_MS, method });
      const call = workCall(addressOf(server), { outcome: 'hold' });
      const owner = start({ call });
      const ledger = await stage().rig.ledger();
      const reader = await stage().rig.executor();
      const id = reader.operationIdOf(call);
      await until(reader, id, (state) => state === 'WORKING.polling');
      await reader.cancel(id);
      await eventually(async () => ((await server.log()).counts[method] ?? 0) >= 1, 15_000);
      // Past the looks that follow a step: stopped inside of one, it would hold the lock of the embedded ledger.
      await delay(60);
      owner.signal('SIGSTOP');
      const other = await tenLeases(owner, call, ledger);
      const outcome = await eventually(() => other.outcome(id));
      expect(outcome.receipt).toMatchObject({ outcome: 'cancelled', cancelGeneration: 1 });
      expect(await owner.line((line) => 'outcome' in line)).toEqual({ outcome });
      await refused(owner, /^terminal\.accept$/);
      expect(owner.lines.filter((line) => logOf(line)?.level === 'error')).toEqual([]);
      expect(await entries(id, 'CANCELLED_ACCEPTED')).toHaveLength(1);
      expect((await server.log()).counts['tasks/cancel']).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
    });
  });

interface Logged {
  readonly level: string;
  readonly event: string;
  readonly detail?: { readonly type?: string; readonly why?: string };
}
const logOf = (line: Line) => line.log as Logged | undefined;
