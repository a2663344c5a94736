import { describe, expect, it, vi } from 'vitest';
import { answer, cancel } from '../../machines/actor/commands.ts';
import {
  type ApprovalPort,
  type Executor,
  type InputReply,
  LedgerUnavailable,
  type OpenRound,
  type OperationLedger,
} from '../../machines/index.ts';
import { freePort } from '../kit/free-port.ts';
import { controls, stdioCommand } from '../kit/servers/mcp-2025-11-25.ts';
import { answersTo, asked, type Bench, started, taskIdOf, useBench } from '../support/bench.ts';
import { accepted, eventually, FAST, LEDGERS, until, workCall } from '../support/rig.ts';
import { pathOf } from '../support/stage.ts';

const YES: InputReply = { action: 'accept', content: { word: 'yes' } };

describe.each(LEDGERS)('input on the %s ledger', (kind) => {
  const bench = useBench(kind);

  it('B7: a callback of the agent runtime gets the question with what binds the answer to it', async () => {
    const { server } = bench();
    const rounds: OpenRound[] = [];
    const executor = await bench().executor({
      approval: {
        ask: async (round) => {
          rounds.push(round);
          return YES;
        },
      },
    });
    const id = await accepted(executor, bench().call({ ask: 1 }));
    const { receipt } = await executor.wait(id);
    expect(receipt.outcome).toBe('completed');
    expect(rounds).toEqual([
      {
        operationId: id,
        round: 1,
        schemaDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        deadline: expect.any(Number),
        request: { message: 'question 1', schema: expect.objectContaining({ required: ['word'] }) },
        possiblyRepeat: false,
      },
    ]);
    expect(await answersTo(server, receipt.taskId ?? '')).toMatchObject([YES]);
    expect(await pathOf(bench().ledger, id)).toEqual(
      expect.arrayContaining(['INPUT_REQUIRED.awaiting', 'INPUT_REQUIRED.replied', 'INPUT_REQUIRED.sending']),
    );
  });

  it("B7: another executor's answer is obeyed through the holder of the prompt", async () => {
    const { server } = bench();
    const [holder, other] = [await bench().executor(), await bench().executor()];
    const question = await open(holder, bench());
    expect(await answer(other.env, { ...question.bound, reply: YES })).toMatchObject({ kind: 'taken' });
    expect((await holder.wait(question.id)).receipt.outcome).toBe('completed');
    expect(await answersTo(server, question.taskId)).toMatchObject([YES]);
  });

  it('B7 F3: two rounds; a reply for the old one is refused by matchesInputRound and never reaches the wire', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const first = await open(executor, bench(), 2);
    expect(await executor.answer({ ...first.bound, reply: reply('one') })).toMatchObject({ kind: 'taken' });
    await until(
      executor,
      first.id,
      (state, { snapshot }) => state === 'INPUT_REQUIRED.awaiting' && snapshot.context.inputRound === 2,
    );
    expect(await executor.answer({ ...first.bound, reply: reply('late') })).toMatchObject({
      kind: 'refused',
      guards: ['matchesInputRound'],
    });
    expect(await executor.answer({ ...first.bound, round: 2, reply: reply('two') })).toMatchObject({ kind: 'taken' });
    expect((await executor.wait(first.id)).receipt.outcome).toBe('completed');
    expect(await answersTo(server, first.taskId)).toMatchObject([reply('one'), reply('two')]);
  });

  it('B7: a reply for another schema, or one that does not fit it, is refused with the reason; a good one still counts', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const { id, taskId, bound } = await open(executor, bench());
    expect(await executor.answer({ ...bound, schemaDigest: '0'.repeat(64), reply: YES })).toMatchObject({
      kind: 'refused',
      guards: ['matchesSchemaDigest'],
    });
    expect(await executor.answer({ ...bound, reply: { action: 'accept', content: { word: 7 } } })).toMatchObject({
      kind: 'refused',
      guards: ['replyFitsSchema'],
      reason: expect.stringContaining('/word: must be string'),
    });
    expect(await answersTo(server, taskId)).toEqual([]);
    expect(await executor.answer({ ...bound, reply: YES })).toMatchObject({ kind: 'taken' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(await answersTo(server, taskId)).toMatchObject([YES]);
  });

  it('B7 F3: answered twice, by two processes at once: one is taken, the round is answered once on the wire', async () => {
    const { server } = bench();
    const [holder, other] = [await bench().executor(), await bench().executor()];
    const { id, taskId, bound } = await open(holder, bench());
    const answers = await Promise.all([
      holder.answer({ ...bound, reply: reply('one') }),
      answer(other.env, { ...bound, reply: reply('two') }),
    ]);
    expect(answers.map((given) => given.kind).sort()).toEqual(['refused', 'taken']);
    expect(answers.find((given) => given.kind === 'refused')).toMatchObject({
      reason: expect.stringMatching(/answered already|no question is open/),
    });
    await holder.wait(id);
    expect(await answersTo(server, taskId)).toHaveLength(1);
    expect(await holder.answer({ ...bound, reply: YES })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('no question is open'),
    });
  });

  it('B7: after the deadline a reply is refused by beforeDeadline, also while the holder of the prompt hangs', async () => {
    const { server, stage } = bench();
    const call = bench().call({ ask: 1 });
    const holder = stage.process({
      call,
      policy: { ...FAST, inputDeadlineMs: 400 },
      // Nobody takes the question over while the test looks at it.
      leaseMs: 60_000,
      freezeAt: 'INPUT_REQUIRED.awaiting',
    });
    await holder.frozen();
    const other = await bench().executor();
    const opened = await until(other, other.operationIdOf(call), (state) => state === 'INPUT_REQUIRED.awaiting');
    await passed(bench(), opened.snapshot.context.input?.deadline ?? 0);
    expect(await answer(other.env, { ...boundTo(opened), reply: YES })).toMatchObject({
      kind: 'refused',
      guards: ['beforeDeadline'],
    });
    expect(await answersTo(server, taskIdOf(opened))).toEqual([]);
    await holder.kill();
  });

  it.each([{ action: 'decline' }, { action: 'cancel' }] as const)(
    'B7 B6: $action reaches the server verbatim',
    async (given) => {
      const { server } = bench();
      const executor = await bench().executor();
      const { id, taskId, bound } = await open(executor, bench());
      expect(await executor.answer({ ...bound, reply: given })).toMatchObject({ kind: 'taken' });
      expect((await executor.wait(id)).receipt.outcome).toBe('completed');
      const [result] = await answersTo(server, taskId);
      expect(result).toMatchObject(given);
      expect(result).not.toHaveProperty('content');
    },
  );

  it('B7: polling pauses while the question is open', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const { id, taskId, bound } = await open(executor, bench());
    const before = await asked(server, 'tasks/get', taskId);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await asked(server, 'tasks/get', taskId)).toBe(before);
    await executor.answer({ ...bound, reply: YES });
    await executor.wait(id);
  });

  it('B7: the deadline passes: one last tasks/get, then PARKED with that reason', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await open(executor, bench(), 1, { inputDeadlineMs: 400, parkedIntervalMs: 60_000 });
    const before = await asked(server, 'tasks/get', taskId);
    const parked = await until(executor, id, (state) => state === 'PARKED.watching');
    expect(parked.snapshot.context.parked?.reason).toBe('input-deadline');
    expect(await asked(server, 'tasks/get', taskId)).toBe(before + 1);
    expect((await pathOf(bench().ledger, id)).slice(-2)).toEqual(['INPUT_REQUIRED.expired', 'PARKED.watching']);
    expect(await answersTo(server, taskId)).toEqual([]);
  });

  it('B7 B8: the deadline passes, and the last tasks/get finds the task completed: accepted', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await open(executor, bench(), 1, { inputDeadlineMs: 500, parkedIntervalMs: 60_000 });
    // The status is terminal, but the channel does not say so.
    await server.control({ op: 'statuses', taskId, statuses: ['completed'] });
    await until(executor, id, (state) => state.startsWith('TERMINAL') || state.startsWith('FETCHING'));
    await server.control({ op: 'complete', taskId });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('B8: the wait budget does not count the time of the human', async () => {
    const executor = await bench().executor();
    const { id, bound, context } = await open(executor, bench(), 1, { waitBudgetMs: 700 });
    await passed(bench(), context.waitDeadline + 50);
    expect(await executor.answer({ ...bound, reply: YES })).toMatchObject({ kind: 'taken' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(await pathOf(bench().ledger, id)).not.toContain('PARKED.watching');
  });

  it('race: a status input_required without a delivered question never asks anybody', async () => {
    const { server } = bench();
    const ask = vi.fn<ApprovalPort['ask']>(async () => YES);
    const executor = await bench().executor({ approval: { ask } });
    const { id, taskId } = await started(executor, bench().call({ outcome: 'hold' }));
    await server.control({ op: 'statuses', taskId, statuses: Array.from({ length: 5 }, () => 'input_required') });
    await until(executor, id, (state) => state === 'WORKING.listening');
    await until(executor, id, (state) => state === 'WORKING.polling');
    await server.control({ op: 'complete', taskId });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(ask).not.toHaveBeenCalled();
    expect((await pathOf(bench().ledger, id)).filter((state) => state.startsWith('INPUT_REQUIRED'))).toEqual([]);
  });

  it('B9: a cancel while the question is open withdraws it and wins', async () => {
    const { server } = bench();
    const port = silentPort();
    const executor = await bench().executor({ approval: port });
    const { id, taskId, bound } = await open(executor, bench());
    expect(await executor.cancel(id)).toMatchObject({ kind: 'taken' });
    expect((await executor.wait(id)).receipt).toMatchObject({ outcome: 'cancelled', cancelGeneration: 1 });
    await port.withdrawn;
    expect(await executor.answer({ ...bound, reply: YES })).toMatchObject({ kind: 'refused' });
    expect(await answersTo(server, taskId)).toEqual([]);
  });

  it('race: completed while the question is open: withdrawn, and the completion is accepted', async () => {
    const { server } = bench();
    const port = silentPort();
    const executor = await bench().executor({ approval: port });
    const { id, taskId, bound } = await open(executor, bench());
    await server.control({ op: 'complete', taskId });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    await port.withdrawn;
    expect(await executor.answer({ ...bound, reply: YES })).toMatchObject({ kind: 'refused' });
    expect(await answersTo(server, taskId)).toEqual([]);
  });

  it('race: input open, connection gone: the channel is opened again and the human asked again, in a new round', async () => {
    const { server, stage } = bench();
    const between = await stage.proxy(server.port);
    const executor = await bench().executor();
    const id = await accepted(executor, workCall({ kind: 'http', url: between.url }, { ask: 1 }));
    const first = await until(executor, id, (state) => state === 'INPUT_REQUIRED.awaiting');
    await between.setMode({ kind: 'refuse' });
    await until(executor, id, (state, { snapshot }) => state === 'WORKING.listening' && snapshot.context.failures > 3);
    await between.setMode({ kind: 'pass' });
    const second = await until(executor, id, (state) => state === 'INPUT_REQUIRED.awaiting');
    // However long the outage was and however often the server was tried.
    expect(second.snapshot.context.inputRound).toBe(2);
    expect(await executor.answer({ ...boundTo(first), reply: reply('old') })).toMatchObject({
      kind: 'refused',
      guards: ['matchesInputRound'],
    });
    expect(await executor.answer({ ...boundTo(second), reply: YES })).toMatchObject({ kind: 'taken' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(await answersTo(server, taskIdOf(second))).toMatchObject([YES]);
  });

  it('race: the holder of the prompt is killed with kill -9, in each step: the second listens, and the deadline ends it', async () => {
    const { server, stage } = bench();
    const word = { answerWith: { word: 'from the dead' } };
    const steps = { awaiting: {}, replied: word, sending: word };
    const calls = Object.entries(steps).map(async ([step, orders]) => {
      const call = bench().call({ ask: 1 });
      const policy = { ...FAST, inputDeadlineMs: 2_500 };
      const holder = stage.process({ call, policy, freezeAt: `INPUT_REQUIRED.${step}`, ...orders });
      await holder.frozen();
      await holder.kill();
      return call;
    });
    const killed = await Promise.all(calls);
    const ask = vi.fn<ApprovalPort['ask']>(async () => YES);
    const endpoints = killed.map(({ endpoint }) => endpoint);
    const second = await bench().executor({ endpoints, approval: { ask } });
    const parked = await Promise.all(
      killed.map((call) => until(second, second.operationIdOf(call), (state) => state === 'PARKED.watching')),
    );
    // The server delivers a question once: nobody can be asked, and nothing is answered on a guess.
    expect(ask).not.toHaveBeenCalled();
    for (const opened of parked) {
      const id = opened.record.operationId;
      expect(opened.snapshot.context.parked?.reason).toBe('input-deadline');
      expect(await pathOf(bench().ledger, id)).toContain('WORKING.listening');
      expect(await answersTo(server, taskIdOf(opened))).toEqual([]);
      // Parked is not over: what the server says later is still taken.
      await server.control({ op: 'complete', taskId: taskIdOf(opened) });
      await until(second, id, (state) => state === 'ACCEPTED');
    }
  });

  it('B7: a look at the ledger that fails while the question is open does not deafen the holder', async () => {
    const { server, stage } = bench();
    let failures = 0;
    const ledger = flaky(await stage.rig.ledger(), () => failures-- > 0);
    const holder = await bench().executor({ ledger, leaseMs: 60_000 });
    const other = await bench().executor();
    const { id, taskId, bound } = await open(holder, bench());
    failures = 1;
    expect(await answer(other.env, { ...bound, reply: YES })).toMatchObject({ kind: 'taken' });
    await until(other, id, (state) => state === 'ACCEPTED');
    expect(failures).toBeLessThan(1);
    expect(await answersTo(server, taskId)).toMatchObject([YES]);
  });

  describe('B11: the result arrives on the channel that was held for questions', () => {
    it('it is accepted without being fetched again', async () => {
      const { server, ledger } = bench();
      const executor = await bench().executor();
      const { id, taskId } = await open(executor, bench());
      await server.control({ op: 'complete', taskId });
      expect(await executor.wait(id)).toMatchObject({
        receipt: { outcome: 'completed', released: true },
        output: { kind: 'result', value: { content: [{ text: 'done' }] } },
      });
      expect(await asked(server, 'tasks/result', taskId)).toBe(1);
      // Not on the word of the channel: the status was read.
      expect(await pathOf(ledger, id)).toContain('TERMINAL_OBSERVED.outcome');
      expect(await ledger.audit()).toEqual([]);
    });

    it('a JSON-RPC error that a failed task ended with: the same', async () => {
      const { server } = bench();
      const executor = await bench().executor();
      const { id, taskId } = await open(executor, bench());
      await server.control({ op: 'fail', taskId, code: -32077 });
      expect(await executor.wait(id)).toMatchObject({
        receipt: { outcome: 'failed', resultKind: 'error' },
        output: { kind: 'error', value: { code: -32077 } },
      });
      // Held, and read a second time: an error may pass.
      expect(await asked(server, 'tasks/result', taskId)).toBe(2);
    });

    it('the server forgets the task before its status was read: parked with the result, and a human accepts it', async () => {
      const { server, ledger } = bench();
      const executor = await bench().executor();
      const { id, taskId } = await open(executor, bench(), 1, { minPollIntervalMs: 1_000, parkedIntervalMs: 60_000 });
      await server.control({ op: 'complete', taskId });
      const held = await until(executor, id, (_, { snapshot }) => snapshot.context.candidate !== null);
      expect(held.snapshot.context).toMatchObject({ terminal: null, result: null });
      await server.control({ op: 'forget', taskId });
      await until(executor, id, (state) => state === 'PARKED.watching');
      const verdict = { verb: 'accept', status: 'completed', payload: null, note: 'it came on the channel' } as const;
      expect(await executor.reconcile(id, 'a human', verdict)).toMatchObject({ kind: 'taken' });
      await until(executor, id, (state) => state === 'ACCEPTED');
      expect(await executor.outcome(id)).toMatchObject({ output: { value: { content: [{ text: 'done' }] } } });
      expect(await ledger.audit()).toEqual([]);
    });

    it('B9: after a cancel was asked and the channel let go: kept, and accepted when the cancel came too late', async () => {
      const { server } = bench();
      const executor = await bench().executor();
      const { id, taskId } = await open(executor, bench());
      await server.control({ op: 'fault', method: 'tasks/cancel', taskId, kind: 'hold' });
      await executor.cancel(id);
      await eventually(async () => (await asked(server, 'tasks/cancel', taskId)) > 0);
      await server.control({ op: 'complete', taskId });
      const kept = await until(executor, id, (_, { snapshot }) => snapshot.context.candidate !== null);
      expect(kept.record.state).toBe('CANCEL_REQUESTED.sending');
      await server.control({ op: 'fault', method: 'tasks/result', taskId, kind: 'rpc', code: -32603, times: 1_000 });
      await server.control({ op: 'release' });
      expect(await executor.wait(id)).toMatchObject({ receipt: { outcome: 'completed' }, output: { kind: 'result' } });
    });

    it('B10 B12: the cancel won nevertheless: the result is for the audit', async () => {
      const { server, ledger } = bench();
      const executor = await bench().executor();
      const { id, taskId } = await open(executor, bench());
      await server.control({ op: 'fault', method: 'tasks/cancel', taskId, kind: 'hold' });
      await server.control({ op: 'lyingCancel', on: true });
      await executor.cancel(id);
      await eventually(async () => (await asked(server, 'tasks/cancel', taskId)) > 0);
      await server.control({ op: 'complete', taskId });
      const kept = await until(executor, id, (_, { snapshot }) => snapshot.context.candidate !== null);
      const digest = kept.snapshot.context.candidate?.digest ?? '';
      await server.control({ op: 'release' });
      const { receipt, output } = await executor.wait(id);
      await server.control({ op: 'lyingCancel', on: false });
      expect(receipt).toMatchObject({ outcome: 'cancelled', auditResultDigest: digest, resultDigest: null });
      expect(output).toBeNull();
      expect(await ledger.readPayload(id, digest)).toContain('done');
    });
  });

  it('stdio: `answer` and `cancel` of another process are obeyed through the one that has the server', async () => {
    const { stage } = bench();
    const port = await freePort();
    const call = workCall(stdioCommand({}, port), { ask: 2 });
    const holder = stage.process({ call, policy: FAST });
    const other = await bench().executor();
    const id = other.operationIdOf(call);
    await holder.line((line) => line.state === 'INPUT_REQUIRED.awaiting');
    const opened = await until(other, id, (state) => state === 'INPUT_REQUIRED.awaiting');
    expect(await answer(other.env, { ...boundTo(opened), reply: YES })).toMatchObject({ kind: 'taken' });
    const second = await until(
      other,
      id,
      (state, { snapshot }) => state === 'INPUT_REQUIRED.awaiting' && snapshot.context.inputRound === 2,
    );
    expect(await answersTo(controls(port), taskIdOf(second))).toMatchObject([YES]);
    expect(await cancel(other.env, id, 'the other process')).toMatchObject({ kind: 'taken' });
    expect((await other.wait(id)).receipt).toMatchObject({ outcome: 'cancelled', cancelGeneration: 1 });
    expect((await controls(port).log()).counts['tasks/cancel']).toBe(1);
    expect((await controls(port).log()).counts['tools/call']).toBe(1);
    await holder.kill();
  });
});

const reply = (word: string): InputReply => ({ action: 'accept', content: { word } });

function boundTo({ snapshot: { context } }: Awaited<ReturnType<typeof until>>) {
  return {
    operationId: context.operationId,
    round: context.inputRound,
    schemaDigest: context.input?.schemaDigest ?? '',
  };
}

/** An operation whose (first) question is open. */
async function open(executor: Executor, bench: Bench, ask = 1, policy: Partial<typeof FAST> = {}) {
  const call = bench.call({ ask }, { policy });
  const { id, taskId, opened } = await started(executor, call, 'INPUT_REQUIRED.awaiting');
  return { id, taskId, bound: boundTo(opened), context: opened.snapshot.context };
}

/** Waits until the ledger's clock is past a time. */
/** An executor's idea of ledger time lags by the way of its last look at it. */
const passed = (bench: Bench, time: number) => eventually(async () => (await bench.ledger.now()) > time + 250);

/** Somebody who never answers and notices when the question is withdrawn. */
function silentPort(): ApprovalPort & { readonly withdrawn: Promise<null> } {
  let withdraw: (value: null) => void = () => undefined;
  const withdrawn = new Promise<null>((resolve) => {
    withdraw = resolve;
  });
  return {
    withdrawn,
    ask: (_round, signal) => {
      signal.addEventListener('abort', () => withdraw(null), { once: true });
      return withdrawn;
    },
  };
}

/** The same ledger, whose `load` rejects whenever `fails` says so. */
function flaky(ledger: OperationLedger, fails: () => boolean): OperationLedger {
  return new Proxy(ledger, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'load') return member.bind(target);
      return async (id: string) => {
        if (fails()) throw new LedgerUnavailable('injected');
        return target.load(id);
      };
    },
  });
}
