import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { createOperationLogic } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { accepted, eventually, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

describe('evidence', () => {
  const stage = useStage('embedded');

  it('one 403 on a poll does not throw away the answer to another call on its way', async () => {
    const server = await stage().server({ describe: 'shared' });
    const executor = await stage().rig.executor({ requestTimeoutMs: 8_000, leaseMs: 10_000 });
    const a = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, a, (state) => state === 'WORKING.polling');
    await server.control({ op: 'fault', method: 'tools/call', kind: 'hold' });
    const b = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, b, (state) => state === 'SUBMITTING.sending');
    await server.control({ op: 'fault', method: 'tasks/get', kind: 'http', status: 403 });
    const polls = async () => (await server.log()).counts['tasks/get'] ?? 0;
    const before = await polls();
    // The refused poll, and one after it.
    await eventually(async () => (await polls()) > before + 1);
    await server.control({ op: 'release' });
    await until(executor, b, (state) => state === 'WORKING.polling');
  });

  it('-32601 after the tool ran is no proof that nothing was submitted', async () => {
    const server = await stage().server({ describe: 'ran' });
    const executor = await stage().rig.executor();
    const id = await accepted(
      executor,
      workCall(server.endpoint, { ignoreTask: true, outcome: 'rpcError', code: -32601 }),
    );
    const { snapshot } = await until(executor, id, (state) => state === 'NOT_SUBMITTED' || state.startsWith('PARKED'));
    expect(statePath(snapshot)).not.toBe('NOT_SUBMITTED');
  });

  it('a cancel that a parent sends before the record exists is not lost', async () => {
    const server = await stage().server({ describe: 'early' });
    await server.control({ op: 'fault', method: 'tools/list', kind: 'delay', ms: 500 });
    const executor = await stage().rig.executor();
    const actor = createActor(createOperationLogic({ executor }), { input: workCall(server.endpoint, { ms: 2_000 }) });
    actor.start();
    actor.send({ type: 'cancel', reason: 'changed my mind' });
    const done = await new Promise<string>((resolve) =>
      actor.subscribe((s) => s.status === 'done' && resolve(s.output.receipt.outcome)),
    );
    expect(done).not.toBe('completed');
  });

  it('B1: a server that declared no look-up is not asked for one on a session that was taken up again', async () => {
    const server = await stage().server({ describe: 'probe' });
    const first = await stage().rig.executor();
    const id = await accepted(first, workCall(server.endpoint, { outcome: 'hold' }));
    await until(first, id, (state) => state === 'WORKING.polling');
    await first.stop();
    const second = await stage().rig.executor({ endpoints: [server.endpoint] });
    await server.control({ op: 'forget', taskId: 'last' });
    await until(second, id, (state) => state.startsWith('PARKED'));
    expect((await server.log()).counts['dev.toolop/lookup'] ?? 0).toBe(0);
  });
});
