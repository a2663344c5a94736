/** The recording of a real run: honest as it is, and a second operation on the server is seen in it. */
import { describe, expect, it } from 'vitest';
import { check } from '../kit/checker.ts';
import { recordHistory } from '../kit/record.ts';
import { accepted, LEDGERS, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

describe.each(LEDGERS)('a recorded run on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it('G2, G6, B12: keeps the brief, until the server makes a second task for one of its call nodes', async () => {
    const { rig, ledger, server: start } = stage();
    const server = await start();
    const answers = { ask: async () => ({ action: 'accept' as const, content: { word: 'yes' } }) };
    const executor = await rig.executor({ approval: answers });
    const call = (callNode: string, script: object) => ({
      callNodeId: callNode,
      endpoint: server.endpoint,
      tool: 'work',
      arguments: { script: { ...script, callNode } },
    });
    const calls = [
      call('plain', {}),
      call('asks', { ask: 2 }),
      call('breaks', { outcome: 'rpcError' }),
      call('says no', { outcome: 'isError' }),
      call('at once', { ignoreTask: true }),
    ];
    const ids = await Promise.all(calls.map((one) => accepted(executor, one)));
    const held = await accepted(executor, call('cancelled', { outcome: 'hold' }));
    await until(executor, held, (state) => state === 'WORKING.polling');
    await executor.cancel(held);
    for (const id of [...ids, held]) await until(executor, id, (_, { snapshot }) => snapshot.status === 'done');

    const servers = [server];
    const history = await recordHistory({ ledger, servers, settled: true });
    expect(history.calls.map(({ callNode }) => callNode).sort()).toEqual(
      ['asks', 'at once', 'breaks', 'cancelled', 'plain', 'says no'].sort(),
    );
    expect(history.calls.find(({ callNode }) => callNode === 'asks')?.server.answers).toHaveLength(2);
    expect(history.calls.every(({ ledger: side }) => side.deliveries.length === 1)).toBe(true);
    expect(check(history)).toEqual([]);

    // Another program repeats the call without asking anybody.
    await repeat(server.url, calls[0]?.arguments ?? {});
    const after = check(await recordHistory({ ledger, servers, settled: false }));
    expect(after.map(({ row, callNode }) => `${row} ${callNode}`).sort()).toEqual([
      'B4 (server :'.concat(`${server.port})`),
      'G2 (servers)',
      'G2 plain',
    ]);
  });

  it('B9, B14: a cancel asked for while nothing can be asked leaves its line in the history', async () => {
    const { rig, ledger, server: start } = stage();
    const server = await start();
    const executor = await rig.executor();
    await server.control({ op: 'fault', method: 'tools/call', kind: 'reset' });
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'PARKED.waiting');
    await executor.cancel(id, 'somebody');
    const last = (await ledger.readHistory(id)).at(-1);
    expect(last).toMatchObject({ event: 'cancel.request', from: 'PARKED.waiting', to: 'PARKED.waiting' });
  });
});

/** One bare `tools/call`, in a session of its own, under no submission key. */
async function repeat(url: string, toolArguments: object): Promise<void> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = (body: object, session?: string) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...(session === undefined ? {} : { 'mcp-session-id': session }) },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const initialize = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'repeats', version: '1' },
  };
  const opened = await post({ id: 1, method: 'initialize', params: initialize });
  await opened.text();
  const params = { name: 'work', arguments: toolArguments, task: {} };
  const answer = await post({ id: 2, method: 'tools/call', params }, opened.headers.get('mcp-session-id') ?? '');
  await answer.text();
}
