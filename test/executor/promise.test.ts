import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  CallCancelled,
  CallRefused,
  createToolop,
  type Executor,
  GivenUp,
  NotSubmitted,
  OperationParked,
  OutputMismatch,
  OutputWithheld,
  type Progress,
  type ToolCall,
  ToolFailed,
} from '../../machines/index.ts';
import { switchedOffAfter, useBench } from '../support/bench.ts';
import { eventually, LEDGERS, until } from '../support/rig.ts';
import { callsSeen } from '../support/stage.ts';

const HOLD = { outcome: 'hold' } as const;
const Answer = z.object({ answer: z.number() });
const failed = async <E>(promise: Promise<unknown>, kind: abstract new (...given: never[]) => E): Promise<E> => {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(kind);
  return error as E;
};

describe.each(LEDGERS)('calls as promises on the %s ledger', (kind) => {
  const bench = useBench(kind);
  const working = (executor: Executor, call: ToolCall) =>
    until(executor, executor.operationIdOf(call), (state) => state === 'WORKING.polling');

  it('gives a typed output and the receipt; the same call node gives them again and calls nothing (B4)', async () => {
    const { server } = bench();
    const call = bench().call({ ms: 10 }, { tool: 'typed' });
    const before = await callsSeen(server);
    const first = createToolop({ executor: await bench().executor() });
    const { output, receipt, operationId } = await first.run(call, { output: Answer });
    const answer: number = output.answer;
    expect([answer, receipt.outcome, receipt.operationId]).toEqual([42, 'completed', operationId]);
    // Another executor: what a restart is.
    const second = createToolop({ executor: await bench().executor() });
    const again = await second.run<{ answer: number }>(call, {
      output: { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] },
    });
    expect(again).toEqual({ output, receipt, operationId });
    expect((await second.run(call)).output).toMatchObject({ structuredContent: { answer: 42 } });
    expect(await callsSeen(server)).toBe(before + 1);
  });

  it('B14: an abort stops waiting only: nothing is cancelled, and the same call node goes on waiting', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const toolop = createToolop({ executor });
    const call = bench().call(HOLD);
    const stop = new AbortController();
    const left = toolop.run(call, { signal: stop.signal });
    const { snapshot } = await working(executor, call);
    const reason = new Error('the user has left');
    stop.abort(reason);
    await expect(left).rejects.toBe(reason);
    await expect(
      (async () => {
        for await (const _ of left);
      })(),
    ).rejects.toBe(reason);
    const again = toolop.run(call);
    await server.control({ op: 'complete', taskId: snapshot.context.taskId ?? '' });
    expect((await again).receipt).toMatchObject({ outcome: 'completed', cancelGeneration: 0, attempt: 1 });
    // Aborted before it began: nothing is made.
    const never = bench().call(HOLD);
    await expect(toolop.run(never, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await executor.load(executor.operationIdOf(never))).toBeNull();
  });

  it('B7: is iterated for its progress, and a question in it is answered', async () => {
    const toolop = createToolop({ executor: await bench().executor() });
    const running = toolop.run(bench().call({ ask: 1 }));
    const steps: Progress[] = [];
    for await (const step of running) {
      steps.push(step);
      if (!step.question) continue;
      const wrong = await toolop.answer({ ...step.question, round: step.question.round + 1 }, { action: 'decline' });
      expect(wrong.kind).toBe('refused');
      const answered = await toolop.answer(step.question, { action: 'accept', content: { word: 'yes' } });
      expect(answered.kind).toBe('taken');
    }
    const { receipt } = await running;
    expect(receipt.outcome).toBe('completed');
    const states = steps.map(({ state }) => state);
    expect(states).toEqual(expect.arrayContaining(['WORKING', 'INPUT_REQUIRED', 'ACCEPTED']));
    expect(steps.at(-1)).toMatchObject({ operationId: running.operationId, taskId: receipt.taskId });
    expect(steps.filter((step) => step.question !== null).length).toBe(1);
  });

  it('errors are classes that say what to do next, and carry the receipt', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const toolop = createToolop({ executor });

    const refused = await failed(toolop.run(bench().call({}, { tool: 'nothing-of-that-name' })), CallRefused);
    expect(refused).toMatchObject({ receipt: null, next: expect.stringMatching(/./) });

    const said = await failed(toolop.run(bench().call({ outcome: 'isError' })), ToolFailed);
    expect(said.output).toMatchObject({ kind: 'result', isError: true });
    const error = await failed(toolop.run(bench().call({ outcome: 'rpcError', code: -32050 })), ToolFailed);
    expect(error.output).toMatchObject({ kind: 'error', value: { code: -32050 } });
    expect(error.message).toContain('-32050');

    const call = bench().call(HOLD);
    const running = toolop.run(call);
    await working(executor, call);
    expect((await running.cancel('enough')).kind).toMatch(/taken/);
    const cancelled = await failed(running, CallCancelled);
    expect(cancelled.receipt.outcome).toBe('cancelled');

    const misfit = await failed(toolop.run(bench().call({}), { output: Answer }), OutputMismatch);
    expect(misfit).toMatchObject({ issues: [expect.stringMatching(/answer/)], output: { kind: 'result' } });

    for (const { operationId, receipt } of [said, error, cancelled, misfit]) {
      expect(receipt).toMatchObject({ operationId, schema: 'terminalReceipt.v1' });
    }
    expect((await server.log()).counts['tasks/cancel']).toBe(1);
  });

  it('what an output guard withholds is not the output of a promise either (B12)', async () => {
    const guard = async () => ({ release: false, marks: ['secret'] });
    const toolop = createToolop({ executor: await bench().executor({ outputGuards: [guard] }) });
    const withheld = await failed(toolop.run(bench().call({})), OutputWithheld);
    expect(withheld).toMatchObject({ why: 'guard', receipt: { released: false, marks: ['secret'] } });
  });

  it('F1: a lost reply without a look-up is parked, for the promise and for the iteration; given up, it has a receipt', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const toolop = createToolop({ executor });
    const call = bench().call(HOLD);
    await server.control({ op: 'fault', kind: 'reset', method: 'tools/call' });
    const running = toolop.run(call);
    const seen: string[] = [];
    const iterated = (async () => {
      for await (const { state } of running) seen.push(state);
    })();
    const parked = await failed(iterated, OperationParked);
    expect(await failed(running, OperationParked)).toBe(parked);
    expect(parked).toMatchObject({
      operationId: running.operationId,
      receipt: null,
      next: expect.stringMatching(/reconcile/),
    });
    expect(seen.at(-1)).toBe('PARKED');
    await executor.reconcile(running.operationId, 'a test', { verb: 'give-up', note: 'nobody can know' });
    const givenUp = await failed(toolop.run(call), GivenUp);
    expect(givenUp.message).toContain('nobody can know');
  });

  it('what was provably not sent is NotSubmitted', async () => {
    const executor = await bench().executor({ creationAllowed: switchedOffAfter(1) });
    const toolop = createToolop({ executor });
    const running = toolop.run(bench().call(HOLD));
    const waiting = failed(running, NotSubmitted);
    await eventually(async () => (await executor.load(running.operationId)) !== null);
    await running.cancel();
    expect((await waiting).receipt).toMatchObject({ outcome: 'not_submitted', taskId: null });
  });
});

it('a call or a schema that is none is refused at once, and nothing is made', () => {
  const toolop = createToolop({ executor: { operationIdOf: () => 'p00.0' } as unknown as Executor });
  const call = {
    callNodeId: 'n',
    endpoint: { kind: 'http', url: 'http://localhost/' },
    tool: 't',
    arguments: {},
  } as const;
  expect(() => toolop.run({ ...call, callNodeId: '' })).toThrow(/callNodeId/);
  expect(() => toolop.run(call, { output: { type: 'no such type' } })).toThrow(/type/);
});
