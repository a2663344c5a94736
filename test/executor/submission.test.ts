import { describe, expect, it } from 'vitest';
import { accepted, eventually, LEDGERS, until, workCall } from '../support/rig.ts';
import { callsSeen, pathOf, useStage } from '../support/stage.ts';

describe.each(LEDGERS)('submission on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it('B4 B11 B12: one call, one operation, one receipt with its result', async () => {
    const target = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(target.endpoint, { ms: 100 }));
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', status: 'completed', released: true, attempt: 1 });
    expect(output).toMatchObject({ kind: 'result', isError: false });
    expect(await callsSeen(target)).toBe(1);
    expect(await stage().ledger.audit()).toEqual([]);
  });

  it('B4 G2: the same call node started twice, by two executors at once: one operation, both get the receipt', async () => {
    const target = await stage().server();
    const [a, b] = [await stage().rig.executor(), await stage().rig.executor()];
    const call = workCall(target.endpoint, { ms: 150 });
    const [one, two] = await Promise.all([accepted(a, call), accepted(b, call)]);
    expect(one).toBe(two);
    const [first, second] = await Promise.all([a.wait(one), b.wait(two)]);
    expect(first.receipt).toEqual(second.receipt);
    expect(await callsSeen(target)).toBe(1);
  });

  it('B4: another request under the same call node is refused; another principal is another node', async () => {
    const target = await stage().server();
    const executor = await stage().rig.executor();
    const call = workCall(target.endpoint, { ms: 10 });
    const id = await accepted(executor, call);
    const refused = await executor.submit({ ...call, arguments: { script: { ms: 11 } } });
    expect(refused).toMatchObject({ kind: 'refused', reason: expect.stringContaining('already made another request') });
    const other = await accepted(executor, { ...call, principal: 'somebody-else' });
    expect(other).not.toBe(id);
    await Promise.all([executor.wait(id), executor.wait(other)]);
    expect(await callsSeen(target)).toBe(2);
  });

  it('B1: refused with a reason, nothing is sent: no tasks, no task support, unknown tool, bad arguments, no server', async () => {
    const [plain, target] = [await stage().server({ tasks: false }), await stage().server()];
    const executor = await stage().rig.executor();
    const answers = [
      await executor.submit(workCall(plain.endpoint, {})),
      await executor.submit(workCall(target.endpoint, {}, { tool: 'sync' })),
      await executor.submit(workCall(target.endpoint, {}, { tool: 'no-such-tool' })),
      await executor.submit(workCall(target.endpoint, {}, { arguments: { script: 'not an object' } })),
      await executor.submit(workCall({ kind: 'http', url: 'http://127.0.0.1:9/mcp' }, {})),
      await executor.submit(workCall({ kind: 'stdio', command: 'no-such-command-here', args: [] }, {})),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ kind: 'refused', reason: expect.any(String), next: expect.any(String) });
    }
    expect((await callsSeen(plain)) + (await callsSeen(target))).toBe(0);
  });

  it('F1 B4: the reply to tools/call is lost and the server offers no look-up: PARKED, never sent again', async () => {
    const target = await stage().server();
    const between = await stage().proxy(target.port);
    const executor = await stage().rig.executor();
    await between.setMode({ kind: 'cutAfterRequest', matches: '"tools/call"' });
    const id = await accepted(executor, workCall({ kind: 'http', url: between.url }, { ms: 20 }));
    const { snapshot } = await until(executor, id, (state) => state.startsWith('PARKED'));
    expect(snapshot.context.parked?.reason).toBe('no-lookup');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await callsSeen(target)).toBe(1);
    expect(await pathOf(stage().ledger, id)).toContain('SUBMISSION_UNKNOWN');
  });

  it('F1 B4: ... and is found by its key when the server offers a look-up', async () => {
    const target = await stage().server({ lookup: true });
    const between = await stage().proxy(target.port);
    const executor = await stage().rig.executor();
    await between.setMode({ kind: 'cutAfterRequest', matches: '"tools/call"' });
    const id = await accepted(executor, workCall({ kind: 'http', url: between.url }, { ms: 50 }));
    const { receipt } = await executor.wait(id);
    expect(receipt.outcome).toBe('completed');
    expect(await callsSeen(target)).toBe(1);
  });

  it('B13 NEVER_CREATED: the request never arrived, the look-up proves it and closes the attempt: sent again, once', async () => {
    const target = await stage().server({ lookup: true });
    await target.control({ op: 'fault', kind: 'resetBefore', method: 'tools/call' });
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(target.endpoint, { ms: 20 }));
    const { receipt } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', attempt: 2 });
    expect((await target.log()).executions).toBe(1);
    const states = await pathOf(stage().ledger, id);
    expect(states).toContain('NOT_FOUND_SAFE');
  });

  it('race: the reply comes after the patience ended: evidence, taken from where the record is by then', async () => {
    const target = await stage().server();
    await target.control({ op: 'fault', kind: 'hold', method: 'tools/call' });
    const executor = await stage().rig.executor({ requestTimeoutMs: 300 });
    const id = await accepted(executor, workCall(target.endpoint, { ms: 50 }));
    await until(executor, id, (state) => state === 'PARKED.waiting');
    await target.control({ op: 'release' });
    const { receipt } = await eventually(() => executor.outcome(id));
    expect(receipt.outcome).toBe('completed');
    expect(await callsSeen(target)).toBe(1);
  });

  it('a server that ignores `task` and returns a plain result has done the work: a terminal outcome', async () => {
    const target = await stage().server();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(target.endpoint, { ignoreTask: true }));
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', taskId: null });
    expect(output?.kind).toBe('result');
    expect((await target.log()).executions).toBe(1);
  });

  it('B4: an error that may come after dispatch is not proof that nothing ran: PARKED, not sent again', async () => {
    const target = await stage().server();
    await target.control({ op: 'fault', kind: 'rpc', code: -32603, method: 'tools/call' });
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(target.endpoint, {}));
    const { snapshot } = await until(executor, id, (state) => state.startsWith('PARKED'));
    expect(snapshot.context.parked?.reason).toBe('no-lookup');
    expect(await callsSeen(target)).toBe(1);
  });

  it('a call that the server refuses before dispatch ends with a not-submitted receipt', async () => {
    const target = await stage().server();
    await target.control({ op: 'fault', kind: 'http', status: 403, method: 'tools/call' });
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(target.endpoint, {}));
    const { receipt } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'not_submitted', status: null, effectReconciliationRequired: false });
  });
});
