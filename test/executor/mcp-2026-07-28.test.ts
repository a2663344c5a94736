import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mcp20260728 } from '../../adapters/mcp-2026-07-28/index.ts';
import type { Executor, ExecutorOptions, InputReply, OpenRound, ToolCall } from '../../machines/index.ts';
import {
  type Script,
  type ScriptedLog,
  type ScriptedOptions,
  type ScriptedServer2026,
  startScriptedServer2026,
} from '../kit/servers/mcp-2026-07-28.ts';
import { ExecutorProcess } from '../support/processes.ts';
import { accepted, eventually, FAST, LEDGERS, NAMESPACE, type Rig, startRig, until } from '../support/rig.ts';
import { pathOf } from '../support/stage.ts';

const HOLD = { outcome: 'hold' } as const;
const say = (word: string): InputReply => ({ action: 'accept', content: { word } });

describe.each(LEDGERS)('MCP 2026-07-28 on the %s ledger', (kind) => {
  let rig: Rig;
  let server: ScriptedServer2026;
  let nodes = 0;
  beforeAll(async () => {
    rig = await startRig(kind);
    server = await startScriptedServer2026();
  });
  afterEach(async () => {
    await rig.retire();
    await server.control({ op: 'reset' });
    await server.control({ op: 'set', options: { lookup: false, dedup: false, cancel: 'obey', cancelMs: 0 } });
  });
  afterAll(async () => {
    await rig.close();
    await server.stop();
  });
  const call = (script: Script, more: Partial<ToolCall> = {}): ToolCall => ({
    callNodeId: `node-${process.pid}-${nodes++}`,
    endpoint: server.endpoint,
    tool: 'work',
    arguments: { script },
    ...more,
  });
  const hire = (options: Partial<ExecutorOptions> = {}): Promise<Executor> =>
    rig.executor({ protocols: [mcp20260728()], endpoints: [server.endpoint], ...options });
  const set = (options: Partial<ScriptedOptions>) => server.control({ op: 'set', options });
  const seen = async (method: string) => (await server.log()).counts[method] ?? 0;
  /** The server was told to tell of the task of this operation. */
  const isWatched = async (executor: Executor, id: string) => {
    const { snapshot } = await until(executor, id, (state) => state === 'WORKING.polling');
    const { taskId } = snapshot.context;
    const named = ({ method, params }: ScriptedLog['requests'][number]) =>
      method === 'subscriptions/listen' && JSON.stringify(params).includes(taskId ?? 'none');
    await eventually(async () => (await server.log()).requests.some(named));
  };
  const question = async (executor: Executor, id: string, round = 1) => {
    const { snapshot } = await until(
      executor,
      id,
      (state, { snapshot: at }) =>
        ['INPUT_REQUIRED.awaiting', 'SUBMITTING.asked'].includes(state) && at.context.inputRound === round,
    );
    return { operationId: id, round, schemaDigest: snapshot.context.input?.schemaDigest ?? '' };
  };

  const endings: readonly (readonly [string, Script, object])[] = [
    ['completes', { ms: 20 }, { outcome: 'completed', status: 'completed', resultKind: 'result', isError: false }],
    [
      'a tool error is completed in this revision, and failed to everybody else',
      { outcome: 'isError' },
      { outcome: 'failed', status: 'completed', resultKind: 'result', isError: true },
    ],
    [
      'a JSON-RPC error is failed',
      { outcome: 'rpcError', code: -32050 },
      { outcome: 'failed', status: 'failed', resultKind: 'error', isError: true },
    ],
    ['over at once, without a task', { immediate: true }, { outcome: 'completed', taskId: null, resultKind: 'result' }],
    ['over when the call is answered', { terminalSeed: true }, { outcome: 'completed', resultKind: 'result' }],
  ];
  it.each(endings)('B2 B11: %s', async (_, script, receipt) => {
    const executor = await hire();
    const id = await accepted(executor, call(script));
    expect((await executor.wait(id)).receipt).toMatchObject({ ...receipt, protocol: 'mcp-2026-07-28' });
    expect(await seen('tools/call')).toBe(1);
  });

  it('B7: two questions at once are one round: one form, each key answered once, nobody holds anything meanwhile', async () => {
    const executor = await hire();
    const id = await accepted(executor, call({ ask: [['a', 'b']] }));
    const asked = await question(executor, id);
    await until(executor, id, (_state, { record }) => record.lease === null);
    const polls = await seen('tasks/get');
    const content = { a: { word: 'one' }, b: { word: 'two' } };
    expect(
      await executor.answer({ ...asked, reply: { action: 'accept', content: { a: { word: 'one' } } } }),
    ).toMatchObject({
      kind: 'refused',
    });
    expect(await seen('tasks/get')).toBe(polls);
    expect(await executor.answer({ ...asked, reply: { action: 'accept', content } })).toMatchObject({ kind: 'taken' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    const { answers, ignored } = await server.log();
    expect(answers.map(({ key, response }) => [key, response])).toEqual([
      ['a', say('one')],
      ['b', say('two')],
    ]);
    expect(ignored).toEqual([]);
  });

  it('B7 F3: an answered key that is still listed is neither asked nor sent again; the next question is a round of its own', async () => {
    const rounds: OpenRound[] = [];
    const executor = await hire({
      approval: {
        ask: async (round) => {
          rounds.push(round);
          return say(round.request.message);
        },
      },
    });
    const id = await accepted(executor, call({ ask: [['a'], ['b']], lagMs: 400 }));
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(rounds.map(({ request, possiblyRepeat }) => [request.message, possiblyRepeat])).toEqual([
      ['question a', false],
      ['question b', false],
    ]);
    const { answers, ignored } = await server.log();
    expect(answers.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(ignored).toEqual([]);
  });

  it('B7: the acknowledgement of an answer is lost: the same answer goes out again, nobody is asked again', async () => {
    const executor = await hire();
    const id = await accepted(executor, call({ ask: [['a']] }));
    const asked = await question(executor, id);
    await server.control({ op: 'fault', method: 'tasks/update', kind: 'resetBefore' });
    await executor.answer({ ...asked, reply: say('yes') });
    const { receipt } = await executor.wait(id);
    expect(receipt.outcome).toBe('completed');
    expect((await executor.load(id))?.snapshot.context.inputRound).toBe(1);
    expect((await server.log()).answers.map(({ key }) => key)).toEqual(['a']);
    expect(await seen('tasks/update')).toBeGreaterThan(1);
  });

  it('B7: who asked is gone: another executor takes the answer to the server', async () => {
    const first = await hire();
    const id = await accepted(first, call({ ask: [['a']] }));
    const asked = await question(first, id);
    await first.stop();
    const second = await hire();
    await second.answer({ ...asked, reply: { action: 'decline' } });
    expect((await second.wait(id)).receipt.outcome).toBe('completed');
    expect((await server.log()).answers).toMatchObject([{ key: 'a', response: { action: 'decline' } }]);
  });

  it('B7: nobody answers in time: one last look, then a human reconciles', async () => {
    const executor = await hire();
    const id = await accepted(executor, call({ ask: [['a']] }, { policy: { inputDeadlineMs: 300 } }));
    const { snapshot } = await until(executor, id, (state) => state.startsWith('PARKED'));
    expect(snapshot.context.parked?.reason).toBe('input-deadline');
  });

  it('B4 B7: asked before there is a task: each a round of the submission, then one task', async () => {
    const executor = await hire();
    const id = await accepted(executor, call({ before: [['a'], ['b', 'c']] }));
    await executor.answer({ ...(await question(executor, id)), reply: say('one') });
    const reply: InputReply = { action: 'accept', content: { b: { word: 'two' }, c: { word: 'three' } } };
    await executor.answer({ ...(await question(executor, id, 2)), reply });
    const { receipt } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', attempt: 3 });
    const { answers, created, executions, requests } = await server.log();
    expect(answers.map(({ taskId, key }) => [taskId, key])).toEqual([
      [null, 'a'],
      [null, 'b'],
      [null, 'c'],
    ]);
    expect([created.length, executions]).toEqual([1, 1]);
    const keys = requests
      .filter(({ method }) => method === 'tools/call')
      .map(({ meta }) => meta['dev.toolop/submission-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(await pathOf(await rig.ledger(), id)).toEqual(
      expect.arrayContaining(['SUBMITTING.asked', 'SUBMITTING.queued']),
    );
  });

  it('B4 B7: the executor is killed while a human is asked before there is a task: another one takes the answer', async () => {
    const asking = call({ before: [['a']] }, { protocol: 'mcp-2026-07-28', policy: FAST });
    const first = new ExecutorProcess({
      ledger: rig.address,
      namespace: NAMESPACE,
      leaseMs: 1_000,
      call: asking,
      freezeAt: 'SUBMITTING.asked',
    });
    await first.line((line) => 'frozen' in line, 40_000);
    await first.kill();
    const second = await hire();
    const id = second.operationIdOf(asking);
    await second.answer({ ...(await question(second, id)), reply: say('yes') });
    expect((await second.wait(id)).receipt).toMatchObject({ outcome: 'completed', attempt: 2 });
    const { created, executions } = await server.log();
    expect([created.length, executions]).toEqual([1, 1]);
  });

  it('B4: cancelled while it is asked before there is a task: nothing was created', async () => {
    const executor = await hire();
    const id = await accepted(executor, call({ before: [['a']] }));
    await question(executor, id);
    expect(await executor.cancel(id)).toMatchObject({ kind: 'taken' });
    expect((await executor.wait(id)).receipt).toMatchObject({
      outcome: 'not_submitted',
      effectReconciliationRequired: false,
    });
    expect((await server.log()).executions).toBe(0);
  });

  it('B9: an acknowledged cancel is no outcome: cancelled when the status says so', async () => {
    await set({ cancelMs: 300 });
    const executor = await hire();
    const id = await accepted(executor, call(HOLD));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await executor.cancel(id);
    await until(executor, id, (state) => state === 'CANCEL_REQUESTED.confirming');
    const { receipt } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'cancelled', status: 'cancelled', effectReconciliationRequired: true });
    expect(receipt.evidence?.kind).toBe('poll.status');
    expect(await seen('tasks/cancel')).toBe(1);
  });

  it('B9 B10: an acknowledged cancel that the work outran: completed, and accepted as that', async () => {
    await set({ cancel: 'ignore' });
    const executor = await hire();
    const id = await accepted(executor, call(HOLD));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await executor.cancel(id);
    await until(executor, id, (state) => state === 'CANCEL_REQUESTED.confirming');
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await executor.wait(id)).receipt).toMatchObject({
      outcome: 'completed',
      effectReconciliationRequired: false,
    });
  });

  it('B14: a local timeout leaves the stream of the call open: no cancel, and its late answer is evidence', async () => {
    await server.control({ op: 'fault', method: 'tools/call', kind: 'holdAnswer' });
    const executor = await hire({ requestTimeoutMs: 300 });
    const id = await accepted(executor, call({ ms: 20 }));
    await until(executor, id, (state) => state === 'PARKED.waiting');
    expect((await server.log()).disconnects['tools/call'] ?? 0).toBe(0);
    await server.control({ op: 'release' });
    const { receipt } = await eventually(() => executor.outcome(id));
    expect(receipt.outcome).toBe('completed');
    expect(await seen('tools/call')).toBe(1);
  });

  it('F1 B13: the reply is lost: found by the key, one operation', async () => {
    await set({ lookup: true });
    await server.control({ op: 'fault', method: 'tools/call', kind: 'reset' });
    const executor = await hire();
    const id = await accepted(executor, call({ ms: 20 }));
    expect((await executor.wait(id)).receipt).toMatchObject({ outcome: 'completed', attempt: 1 });
    expect((await server.log()).executions).toBe(1);
  });

  it('F1: the reply is lost, and there is nobody to ask: parked, not sent again', async () => {
    await server.control({ op: 'fault', method: 'tools/call', kind: 'reset' });
    const executor = await hire();
    const id = await accepted(executor, call({ ms: 20 }));
    const { snapshot } = await until(executor, id, (state) => state.startsWith('PARKED'));
    expect(snapshot.context.parked?.reason).toBe('no-lookup');
    expect(await seen('tools/call')).toBe(1);
  });

  it('F10: the id is unknown: parked, never failed', async () => {
    const executor = await hire();
    const id = await accepted(executor, call(HOLD));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'forget', taskId: 'last' });
    const { snapshot } = await until(executor, id, (state) => state.startsWith('PARKED'));
    expect(snapshot.context.parked?.reason).toBe('unknown-id');
  });

  it('B8: a push is a hint: the status is read long before its time', async () => {
    const executor = await hire();
    const policy = { pollIntervalMs: 600_000, minPollIntervalMs: 600_000, maxPollIntervalMs: 600_000 };
    const id = await accepted(executor, call({ outcome: 'hold', pollIntervalMs: 600_000 }, { policy }));
    await isWatched(executor, id);
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('B8: without its stream the polling is all there is', async () => {
    const executor = await hire();
    const id = await accepted(executor, call(HOLD));
    await isWatched(executor, id);
    await server.control({ op: 'fault', method: 'subscriptions/listen', kind: 'http', status: 503, times: 100 });
    await server.control({ op: 'endListens', graceful: false });
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('F4: it completes while the cancel is on its way: heard, and completed it stays', async () => {
    await server.control({ op: 'fault', method: 'tasks/cancel', kind: 'hold' });
    const executor = await hire();
    const id = await accepted(executor, call(HOLD));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await executor.cancel(id);
    await eventually(async () => (await seen('tasks/cancel')) === 1);
    await server.control({ op: 'complete', taskId: 'last' });
    await server.control({ op: 'release' });
    expect((await executor.wait(id)).receipt).toMatchObject({ outcome: 'completed' });
  });

  it("F5: the cancel's acknowledgement is lost: the status says that it was heard", async () => {
    await server.control({ op: 'fault', method: 'tasks/cancel', kind: 'reset' });
    const executor = await hire();
    const id = await accepted(executor, call(HOLD));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await executor.cancel(id);
    expect((await executor.wait(id)).receipt).toMatchObject({ outcome: 'cancelled', status: 'cancelled' });
  });

  it.each(['truncate', 'reset'] as const)(
    'F6 F7: completed, and the answer with the result is lost (%s): read again',
    async (kind) => {
      const executor = await hire();
      const id = await accepted(executor, call(HOLD));
      await until(executor, id, (state) => state === 'WORKING.polling');
      await server.control({ op: 'fault', method: 'tasks/get', kind, times: 2 });
      await server.control({ op: 'complete', taskId: 'last' });
      const { receipt, output } = await executor.wait(id);
      expect(receipt.outcome).toBe('completed');
      expect(output).toMatchObject({ kind: 'result' });
    },
  );

  it('F6 B11: completed without its result never advances: parked, with the outcome on record', async () => {
    const executor = await hire();
    const id = await accepted(executor, call({ outcome: 'hold', variant: 'empty' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'complete', taskId: 'last' });
    const { snapshot } = await until(executor, id, (state) => state.startsWith('PARKED'));
    expect(snapshot.context).toMatchObject({
      parked: { reason: 'result-unavailable' },
      terminal: { status: 'completed' },
    });
    expect(await executor.outcome(id)).toBeNull();
  });

  it('F9: the id is used for something else: disputed', async () => {
    const executor = await hire();
    const id = await accepted(executor, call(HOLD));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'reuse', taskId: 'last', createdAt: '2020-01-01T00:00:00.000Z' });
    const { snapshot } = await until(executor, id, (state) => state === 'PARKED.disputed');
    expect(snapshot.context.parked?.reason).toBe('contradiction');
  });

  it('F11 B8: 503 with Retry-After is a floor for the next poll', async () => {
    const executor = await hire();
    const id = await accepted(executor, call(HOLD));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'fault', method: 'tasks/get', kind: 'http', status: 503, retryAfter: '1', times: 9 });
    const history = async () => (await rig.ledger()).readHistory(id);
    const failed = await eventually(async () => (await history()).find(({ event }) => event === 'poll.failed'));
    const polls = async () => (await server.log()).requests.filter(({ method }) => method === 'tasks/get');
    // Without the floor it would be a fifth of a second; the rest is for the clocks of three processes.
    const next = await eventually(async () => (await polls()).find(({ at }) => at > failed.at + 500));
    expect(next.at - failed.at).toBeGreaterThanOrEqual(750);
    await server.control({ op: 'clearFaults' });
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('F11: one failed poll says nothing', async () => {
    const executor = await hire();
    const id = await accepted(executor, call(HOLD));
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'fault', method: 'tasks/get', kind: 'http', status: 503 });
    await server.control({ op: 'fault', method: 'tasks/get', kind: 'resetBefore' });
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });
});
