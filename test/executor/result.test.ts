import { describe, expect, it } from 'vitest';
import type { LogEntry, Policy, TerminalReceipt } from '../../machines/index.ts';
import { asked, started, taskIdOf, useBench } from '../support/bench.ts';
import { accepted, eventually, FAST, LEDGERS, until } from '../support/rig.ts';
import { pathOf } from '../support/stage.ts';

/** Little patience for a result, and no look at a parked operation by itself. */
const IMPATIENT: Partial<Policy> = { fetchBudgetMs: 500, parkedIntervalMs: 60_000 };

describe.each(LEDGERS)('results on the %s ledger', (kind) => {
  const bench = useBench(kind);

  it.each([
    ['F6', 'lost', { kind: 'reset' }],
    ['F7', 'truncated', { kind: 'truncate' }],
    ['F6', 'no JSON-RPC', { kind: 'malformed' }],
    ['F6', 'answered with -32603', { kind: 'rpc', code: -32603 }],
    ['F6', 'answered with 503', { kind: 'http', status: 503 }],
  ] as const)('%s B11: the result is %s once: no advance, fetched again, accepted', async (_row, _name, fault) => {
    const { server, ledger } = bench();
    const executor = await bench().executor();
    const { id, taskId } = await started(executor, bench().call({ outcome: 'hold' }));
    await server.control({ op: 'fault', method: 'tasks/result', taskId, ...fault });
    await server.control({ op: 'complete', taskId });
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', released: true });
    expect(output).toMatchObject({ kind: 'result', value: { content: [{ text: 'done' }] } });
    const path = await pathOf(ledger, id);
    expect(path.indexOf('FETCHING_RESULT.retrying')).toBeGreaterThan(path.indexOf('TERMINAL_OBSERVED.outcome'));
    expect(path.indexOf('FETCHING_RESULT.verified')).toBeGreaterThan(path.indexOf('FETCHING_RESULT.retrying'));
  });

  it.each([
    ['B11 B12: violates the output schema', { variant: 'badSchema' }, /output schema/],
    ['F6: is empty', { variant: 'empty' }, /empty/],
    ['F7: has 50 MB', { variant: 'huge' }, /larger|too large|limit|bytes/],
  ] as const)(
    '%s: no advance, FETCHING_RESULT, then PARKED with the reason; never accepted',
    async (_name, script, note) => {
      const { server, ledger } = bench();
      const executor = await bench().executor({ requestTimeoutMs: 10_000 });
      const more = { policy: IMPATIENT, ...('badSchema' === script.variant ? { tool: 'typed' } : {}) };
      const id = await accepted(executor, bench().call(script, more));
      const parked = await until(executor, id, (state) => state === 'PARKED.watching', 20_000);
      expect(parked.snapshot.context.parked).toMatchObject({
        reason: 'result-unavailable',
        note: expect.stringMatching(note),
      });
      expect(parked.snapshot.context).toMatchObject({ result: null, terminal: { status: 'completed' } });
      expect(await pathOf(ledger, id)).toContain('FETCHING_RESULT.retrying');
      expect(await executor.outcome(id)).toBeNull();
      await expect(executor.wait(id)).rejects.toMatchObject({ name: 'OperationParked', reason: 'result-unavailable' });
      expect(await asked(server, 'tasks/result', taskIdOf(parked))).toBeGreaterThan(1);
    },
  );

  it('B11: a tool with an output schema is accepted with a result that fits it', async () => {
    const executor = await bench().executor();
    const id = await accepted(executor, bench().call({}, { tool: 'typed' }));
    expect(await executor.wait(id)).toMatchObject({
      receipt: { outcome: 'completed' },
      output: { value: { structuredContent: { answer: 42 } } },
    });
  });

  it('F6: out of reach for the whole budget: PARKED, and taken when it can be had after all', async () => {
    const { server, ledger } = bench();
    const executor = await bench().executor();
    const call = bench().call({ outcome: 'hold' }, { policy: { fetchBudgetMs: 300, parkedIntervalMs: 150 } });
    const { id, taskId } = await started(executor, call);
    await server.control({ op: 'fault', method: 'tasks/result', taskId, kind: 'http', status: 503, times: 1_000 });
    await server.control({ op: 'complete', taskId });
    const parked = await until(executor, id, (state) => state === 'PARKED.watching');
    expect(parked.snapshot.context.parked?.reason).toBe('result-unavailable');
    await server.control({ op: 'clearFaults' });
    await until(executor, id, (state) => state === 'ACCEPTED');
    expect(await ledger.audit()).toEqual([]);
  });

  it('B11: failed with a stored result (isError): the receipt says failed and carries it', async () => {
    const executor = await bench().executor();
    const id = await accepted(executor, bench().call({ outcome: 'isError' }));
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'failed', status: 'failed', isError: true, resultKind: 'result' });
    expect(output).toMatchObject({
      kind: 'result',
      isError: true,
      value: { content: [{ text: 'the tool says no' }] },
    });
  });

  it('B11: a failed task that ends with a JSON-RPC error: read twice, and the error is the outcome', async () => {
    const { server } = bench();
    const executor = await bench().executor();
    const id = await accepted(executor, bench().call({ outcome: 'rpcError', code: -32077 }));
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'failed', status: 'failed', isError: true, resultKind: 'error' });
    expect(output).toEqual({ kind: 'error', value: expect.objectContaining({ code: -32077 }) });
    expect(await asked(server, 'tasks/result', receipt.taskId ?? '')).toBe(2);
  });

  it.each([
    ['refuses', () => ({ release: false, marks: ['holds a secret'] }), false, 'holds a secret'],
    ['only marks', () => ({ release: true, marks: ['unverified source'] }), true, 'unverified source'],
    [
      'throws',
      () => {
        throw new Error('no connection to the classifier');
      },
      false,
      'no connection to the classifier',
    ],
  ] as const)('B12: an output guard that %s', async (_name, guard, released, mark) => {
    const { ledger } = bench();
    const seen: unknown[] = [];
    const executor = await bench().executor({
      outputGuards: [
        (output) => {
          seen.push(output);
          return { release: true };
        },
        guard,
      ],
    });
    const id = await accepted(executor, bench().call({}));
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({
      outcome: 'completed',
      released,
      marks: [expect.stringContaining(mark)],
      resultDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(output === null).toBe(!released);
    expect(seen).toEqual([
      expect.objectContaining({
        operationId: id,
        tool: 'work',
        outcome: 'completed',
        value: { content: [{ type: 'text', text: 'done' }] },
      }),
    ]);
    // Kept, released or not.
    expect(await ledger.readPayload(id, receipt.resultDigest ?? '')).toContain('done');
  });

  it('B12: an output guard that never settles: neither released nor refused, said in the log, asked again later', async () => {
    const { ledger, server } = bench();
    const logged: LogEntry[] = [];
    let aborted = false;
    const stuck = await bench().executor({
      guardTimeoutMs: 300,
      log: (entry) => void logged.push(entry),
      outputGuards: [
        (_, signal) =>
          new Promise(() => {
            signal.addEventListener('abort', () => {
              aborted = true;
            });
          }),
      ],
    });
    const call = bench().call({});
    const id = await accepted(stuck, call);
    const entry = await eventually(async () => logged.find(({ event }) => event === 'output-guard.timeout'));
    expect(entry).toMatchObject({
      level: 'error',
      operationId: id,
      detail: { why: expect.stringContaining('300 ms') },
    });
    expect(aborted).toBe(true);
    const held = await until(stuck, id, (_, { record }) => record.lease === null);
    expect(held.record.state).toBe('FETCHING_RESULT.verified');
    expect(await stuck.outcome(id)).toBeNull();
    // Due again, but not at once.
    expect(held.record.dueAt).toBeGreaterThan((await ledger.now()) + 5_000);
    expect(held.record.dueAt).toBeLessThan((await ledger.now()) + 60_000);
    if (kind === 'redis') return;
    await stuck.stop();

    // The result is in hand: whoever is next needs nothing but a guard that answers.
    await server.control({ op: 'forget', taskId: taskIdOf(held) });
    const next = await bench().executor({ endpoints: [call.endpoint], outputGuards: [() => ({ release: true })] });
    await until(next, id, (state) => state === 'ACCEPTED', 45_000);
    expect((await next.outcome(id))?.receipt).toMatchObject({ outcome: 'completed', released: true });
  }, 60_000);

  it('stopping does not wait for an output guard', async () => {
    let asked = false;
    const executor = await bench().executor({
      outputGuards: [
        () => {
          asked = true;
          return new Promise(() => undefined);
        },
      ],
    });
    const id = await accepted(executor, bench().call({}));
    await eventually(async () => asked);
    await executor.stop();
    const { ledger } = bench();
    expect((await ledger.load(id))?.state).toBe('FETCHING_RESULT.verified');
    expect(await ledger.readReceipt(id)).toBeNull();
  });

  it("F6: a result in hand survives the executor's death: accepted by the next one although the server forgot it", async () => {
    const { server, stage, ledger } = bench();
    const call = bench().call({});
    const first = stage.process({ call, policy: FAST, freezeAt: 'FETCHING_RESULT.verified' });
    await first.frozen();
    await first.kill();
    const second = await bench().executor({ endpoints: [call.endpoint] });
    const id = second.operationIdOf(call);
    const held = await until(second, id, (state) => state.startsWith('FETCHING') || state === 'ACCEPTED');
    await server.control({ op: 'forget', taskId: taskIdOf(held) });
    const { receipt, output } = await second.wait(id);
    expect(receipt.outcome).toBe('completed');
    expect(output).toMatchObject({ kind: 'result' });
    expect(await asked(server, 'tasks/result', taskIdOf(held))).toBe(1);
    expect(await ledger.audit()).toEqual([]);
  });

  it('B12 G6: exactly one ready row per call node, leased, acknowledged once, and every row leads back to a receipt', async () => {
    const { ledger } = bench();
    const executor = await bench().executor();
    const scripts = [{}, { outcome: 'isError' }, { outcome: 'rpcError' }] as const;
    const ids = await Promise.all(scripts.map((script) => accepted(executor, bench().call(script))));
    const receipts = await Promise.all(ids.map(async (id) => (await executor.wait(id)).receipt));
    const ours = ({ operationId }: { readonly operationId: string }) => ids.includes(operationId);

    const rows = (await ledger.leaseReady('one', 1_000, 60_000)).filter(ours);
    expect(rows.map(({ operationId }) => operationId).sort()).toEqual([...ids].sort());
    for (const row of rows) {
      const receipt = JSON.parse(row.receipt) as TerminalReceipt;
      expect(receipts).toContainEqual(receipt);
    }
    expect((await ledger.leaseReady('two', 1_000, 60_000)).filter(ours)).toEqual([]);
    const [row] = rows;
    if (!row) throw new Error('no row');
    expect(await ledger.ackReady(row, 'two')).toBe(false);
    for (const each of rows) expect(await ledger.ackReady(each, 'one')).toBe(true);
    expect((await ledger.leaseReady('one', 1_000, 60_000)).filter(ours)).toEqual([]);
    expect(await ledger.audit()).toEqual([]);
  });
});
