import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aip151 } from '../../../adapters/aip-151/index.ts';
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import {
  clearRollout,
  type Executor,
  type ExecutorOptions,
  setRolloutRule,
  shadowReport,
  type ToolCall,
} from '../../../machines/index.ts';
import { openLedger } from '../../../persistence/index.ts';
import { type AipOptions, type AipServer, REPORT, rpcError, startAipServer } from '../../kit/servers/aip-151.ts';
import { accepted, eventually, LEDGERS, NAMESPACE, until } from '../../support/rig.ts';
import { pathOf, useStage } from '../../support/stage.ts';
import { ARGS, METHODS } from './helpers.ts';

describe.each(LEDGERS)('AIP-151 from the executor to the receipt, on the %s ledger', (kind) => {
  const stage = useStage(kind);
  let server: AipServer;
  beforeAll(async () => {
    server = await startAipServer();
  });
  beforeEach(() => server.reset());
  afterAll(() => server.stop());

  const executorWith = (options: Partial<ExecutorOptions> = {}) =>
    stage().rig.executor({ protocols: [mcp20251125(), aip151({ methods: METHODS })], ...options });
  let nodes = 0;
  const call = (more: Partial<ToolCall> = {}): ToolCall => ({
    callNodeId: `aip-${process.pid}-${kind}-${nodes++}`,
    protocol: 'aip-151',
    endpoint: server.address(),
    tool: 'report',
    arguments: ARGS,
    ...more,
  });
  /** An executor, and an operation that the server works on. */
  const working = async (options: AipOptions = {}): Promise<{ executor: Executor; id: string }> => {
    server.options = options;
    const executor = await executorWith();
    const id = await accepted(executor, call());
    await until(executor, id, (state) => state === 'WORKING.polling');
    return { executor, id };
  };
  const parkedAs = async (executor: Executor, id: string, reason: string) => {
    const { snapshot } = await until(executor, id, (state) => state.startsWith('PARKED'));
    expect(snapshot.context.parked?.reason).toBe(reason);
    expect(await executor.outcome(id)).toBeNull();
  };

  it('B3 B6 B11 B12: completed: one start, one receipt with the response', async () => {
    const { executor, id } = await working();
    server.progress({ progressPercent: 50 });
    await until(executor, id, (_state, { snapshot }) => snapshot.context.statusMessage === '50 %');
    const { context } = (await executor.load(id))?.snapshot ?? {};
    expect(context).toMatchObject({ protocol: 'aip-151', taskId: server.last, serverStatus: 'working' });
    server.complete();
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', taskId: server.last, released: true });
    expect(output).toEqual({ kind: 'result', value: REPORT, isError: false });
    expect([server.count('start'), server.executions]).toEqual([1, 1]);
    expect(await stage().ledger.audit()).toEqual([]);
  });

  it('B11: failed: the error of the operation is the outcome', async () => {
    const { executor, id } = await working();
    server.fail(9, 'no water');
    const { receipt, output } = await executor.wait(id);
    expect(receipt.outcome).toBe('failed');
    expect(output).toEqual({ kind: 'error', value: { code: 9, message: 'no water' } });
  });

  it('B9 B10: a cancel is heard, and only the later read with code 1 is the end', async () => {
    const { executor, id } = await working();
    await executor.cancel(id);
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'cancelled', cancelGeneration: 1, effectReconciliationRequired: true });
    expect(output).toBeNull();
    expect(await pathOf(stage().ledger, id)).toContain('CANCEL_REQUESTED.confirming');
  });

  it('B9 F4: a cancel that was heard and lost: completed is accepted', async () => {
    const { executor, id } = await working({ cancel: 'heard' });
    await executor.cancel(id);
    await until(executor, id, (state) => state === 'CANCEL_REQUESTED.confirming');
    server.complete();
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', cancelGeneration: 1, released: true });
    expect(output).toMatchObject({ value: REPORT });
    expect(server.count('cancel')).toBe(1);
  });

  it('B9: UNIMPLEMENTED, found out only by trying: sent once, then only the status is read', async () => {
    const { executor, id } = await working({ cancel: 'unimplemented' });
    await executor.cancel(id);
    await until(executor, id, (state) => state === 'CANCEL_REQUESTED.confirming');
    const seen = server.count('get');
    await eventually(async () => server.count('get') > seen + 2);
    expect(server.count('cancel')).toBe(1);
    server.complete();
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('F5: the answer to the cancel is lost: the status is read, and says cancelled', async () => {
    const { executor, id } = await working();
    server.fault({ on: 'cancel', kind: 'resetAfter' });
    await executor.cancel(id);
    expect((await executor.wait(id)).receipt.outcome).toBe('cancelled');
    expect(server.count('cancel')).toBe(1);
  });

  it('F6 B11: done with neither response nor error: never a success, PARKED', async () => {
    const { executor, id } = await working();
    server.finishEmpty();
    await parkedAs(executor, id, 'result-unavailable');
    expect(await pathOf(stage().ledger, id)).toContain('FETCHING_RESULT.retrying');
  });

  it('B13 F10: 404: UNKNOWN, PARKED; never failed, never started again', async () => {
    const { executor, id } = await working();
    server.forget();
    await parkedAs(executor, id, 'unknown-id');
    expect(server.count('start')).toBe(1);
  });

  it('B13: the server is restarted in mid-operation and keeps its operations: it goes on', async () => {
    const { executor, id } = await working();
    await server.crash();
    await until(executor, id, (_state, { snapshot }) => snapshot.context.failures > 1);
    await server.restart(true);
    server.complete();
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(server.count('start')).toBe(1);
  });

  it('B13: ... and forgets them: PARKED, never started again', async () => {
    const { executor, id } = await working();
    await server.restart(false);
    await parkedAs(executor, id, 'unknown-id');
    expect(server.count('start')).toBe(1);
  });

  it('F11 B8: 429, 503, 202, a page and a cut answer change nothing', async () => {
    const { executor, id } = await working();
    const html = { text: '<html>', headers: { 'content-type': 'text/html' } };
    server.fault({
      on: 'get',
      kind: 'answer',
      ...rpcError(429, 'RESOURCE_EXHAUSTED'),
      headers: { 'retry-after': '1' },
    });
    server.fault({ on: 'get', kind: 'answer', ...rpcError(503, 'UNAVAILABLE') });
    server.fault({ on: 'get', kind: 'answer', status: 202, json: { name: server.last, done: true, response: REPORT } });
    server.fault({ on: 'get', kind: 'answer', status: 404, ...html });
    server.fault({ on: 'get', kind: 'truncate' });
    const seen = server.count('get');
    await eventually(async () => server.count('get') > seen + 5);
    expect((await executor.load(id))?.record.state).toBe('WORKING.polling');
    server.complete();
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('B14: another executor takes the operation over: nothing of the wire has to be remembered', async () => {
    const { executor, id } = await working();
    const endpoint = { kind: 'http' as const, url: (await executor.load(id))?.snapshot.context.endpoint.url ?? '' };
    await executor.stop();
    const next = await executorWith({ endpoints: [endpoint] });
    server.complete();
    expect((await next.wait(id)).receipt.outcome).toBe('completed');
    expect([server.count('start'), server.count('cancel')]).toEqual([1, 0]);
  });

  it('a start that the service refuses ends with a not-submitted receipt', async () => {
    const executor = await executorWith();
    server.fault({ on: 'start', kind: 'answer', ...rpcError(400, 'INVALID_ARGUMENT') });
    const { receipt } = await executor.wait(await accepted(executor, call()));
    expect(receipt).toMatchObject({ outcome: 'not_submitted', effectReconciliationRequired: false });
    expect(server.executions).toBe(0);
  });

  it('B1: refused before anything is sent: arguments, tool, stdio', async () => {
    const executor = await executorWith();
    const answers = [
      await executor.submit(call({ arguments: {} })),
      await executor.submit(call({ tool: 'nope' })),
      await executor.submit(call({ endpoint: { kind: 'stdio', command: 'no-such-command', args: [] } })),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'refused', next: expect.any(String) });
    expect(server.requests).toEqual([]);
  });

  it('F1 B4: the reply to the start is lost and the API declares no request id: PARKED, never started again', async () => {
    const executor = await executorWith();
    server.fault({ on: 'start', kind: 'resetAfter' });
    const id = await accepted(executor, call());
    await parkedAs(executor, id, 'no-lookup');
    expect([server.count('start'), server.executions]).toEqual([1, 1]);
  });

  it('race: the reply comes after the patience ended: evidence, the operation goes on', async () => {
    const executor = await executorWith({ requestTimeoutMs: 300 });
    server.fault({ on: 'start', kind: 'hold' });
    const id = await accepted(executor, call());
    await until(executor, id, (state) => state === 'PARKED.waiting');
    server.faults.release();
    server.complete();
    const { receipt } = await eventually(() => executor.outcome(id));
    expect(receipt.outcome).toBe('completed');
    expect(server.count('start')).toBe(1);
  });

  // The look-up of this branch does not pass the call on yet (`call` of LookupRequest).
  it.each(['resetAfter', 'resetBefore'] as const)(
    'F1 G2 AIP-155: the reply (or the call) is lost, %s: the same call under the same request id finds one operation',
    async (fault) => {
      server.options = { requestIdMs: 60_000 };
      const executor = await executorWith();
      server.fault({ on: 'start', kind: fault });
      const id = await accepted(executor, call({ tool: 'keyed' }));
      await until(executor, id, (state) => state === 'WORKING.polling');
      server.complete();
      const { receipt } = await executor.wait(id);
      expect(receipt).toMatchObject({ outcome: 'completed', taskId: server.last, attempt: 1 });
      expect([server.count('start'), server.executions]).toEqual([2, 1]);
      const ids = server.requests
        .filter((seen) => seen.call === 'start')
        .map(({ body }) => Reflect.get(Object(body), 'requestId'));
      expect(new Set(ids).size).toBe(1);
      expect(await pathOf(stage().ledger, id)).toContain('SUBMISSION_UNKNOWN');
    },
  );

  it('R1: a shadow says so in a header of its start, and of the repetition that looks it up; the ordinary call does not', async () => {
    server.options = { requestIdMs: 60_000 };
    const shadows = await openLedger(stage().rig.address, { namespace: NAMESPACE, kind: 'shadow' });
    const executor = await executorWith({ shadowLedger: shadows });
    try {
      await setRolloutRule(stage().ledger, { of: 'tool', name: 'keyed', mode: 'shadow', effectFree: true });
      server.fault({ on: 'start', kind: 'resetAfter' });
      const shadowed = call({ tool: 'keyed' });
      const begun = await executor.beginShadow(shadowed);
      if (begun.kind !== 'begun') throw new Error(begun.reason);
      await eventually(async () => server.count('start') === 2);
      server.complete();
      await eventually(async () => (await shadows.readReceipt(begun.operationId)) !== null);
      await executor.reportOrdinary(shadowed, { kind: 'result', value: { ...REPORT, pages: 0 }, isError: false });
      expect((await shadowReport(shadows)).fields).toEqual([{ field: 'value.pages', count: 1 }]);
      await accepted(executor, call());
      await eventually(async () => server.count('start') === 3);
      const starts = server.requests.filter((request) => request.call === 'start');
      expect(starts.map(({ headers }) => headers['toolop-shadow'])).toEqual(['true', 'true', undefined]);
      expect(server.executions).toBe(2);
    } finally {
      await executor.stop();
      await clearRollout(stage().ledger);
      await shadows.close();
    }
  });
});
