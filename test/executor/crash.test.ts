/**
 * `kill -9` of the executor in every state. The process freezes itself right after the commit of the state, so that the
 * kill hits that state and no other; a second process takes over when the lease has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationLedger } from '../../machines/index.ts';
import { pathOf as chartPath, leaves } from '../machines/chart.ts';
import { ExecutorProcess } from '../support/processes.ts';
import { eventually, FAST, LEDGERS, NAMESPACE, type Rig, startRig, until, workCall } from '../support/rig.ts';
import { callsSeen, pathOf, type Stage, useStage } from '../support/stage.ts';
import { approvalOf, comeToRest, disagreements, enter, restOf, ServerPool, STORIES } from '../support/stories.ts';

const LEASE_MS = 1_000;

/** Only a server of 2026-07-28 brings a record there: `mcp-2026-07-28.test.ts` kills an executor in it. */
const ELSEWHERE = ['SUBMITTING.asked'];

it('every atomic state of the chart has one story', () => {
  const told = [...STORIES.map(({ state }) => state), ...ELSEWHERE];
  expect(told.sort()).toEqual(leaves.map(chartPath).sort());
});

describe.each(LEDGERS)('kill -9 of an executor in every state, on the %s ledger', (kind) => {
  const servers = new ServerPool();
  let rig: Rig;
  let ledger: OperationLedger;
  beforeAll(async () => {
    rig = await startRig(kind);
    ledger = await rig.ledger();
  });
  afterAll(async () => {
    await Promise.all(started.map((each) => each.kill()));
    await rig?.close();
    await servers.stop();
  });
  const started: ExecutorProcess[] = [];
  const process: Stage['process'] = (orders) => {
    const next = new ExecutorProcess({ leaseMs: LEASE_MS, ...orders, ledger: rig.address, namespace: NAMESPACE });
    started.push(next);
    return next;
  };

  it.concurrent.each(STORIES)(
    '$state: a second executor goes on from there, one tools/call at the most',
    (story) =>
      servers.lend(story, async (server, endpoint) => {
        const { call, first } = await enter(story, endpoint, process);
        await first.kill();
        for (const control of [...story.heal, ...story.finish]) await server.control(control);

        const second = await rig.executor({ ledger, ...approvalOf(story) });
        second.serve(endpoint);
        // It rests here already: what could still go wrong waits for the end of the lease of the dead.
        if (restOf(story.ends) === story.state) await sleep(2 * LEASE_MS);
        const rest = await comeToRest(second, second.operationIdOf(call), story.ends);
        await second.stop();
        expect(rest.ending).toEqual(story.ends);
        expect(await disagreements(server, rest)).toEqual([]);
        expect(await ledger.audit()).toEqual([]);
      }),
    120_000,
  );
});

describe.each(LEDGERS)('kill -9 of an executor on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it('between sending the call and committing the reply, no look-up: PARKED, one tools/call seen', async () => {
    const server = await stage().server();
    await server.control({ op: 'fault', kind: 'hold', method: 'tools/call' });
    const call = workCall(server.endpoint, { ms: 20 });
    const first = stage().process({ call, policy: FAST });
    await eventually(async () => (await callsSeen(server)) === 1);
    await first.kill();
    stage().process({ url: server.url, policy: FAST });
    const reader = await stage().rig.executor();
    const { snapshot } = await until(reader, reader.operationIdOf(call), (path) => path.startsWith('PARKED'), 15_000);
    expect(snapshot.context.parked?.reason).toBe('no-lookup');
    expect(await callsSeen(server)).toBe(1);
  });

  it('... and with a look-up: the operation is found and finished', async () => {
    const server = await stage().server({ lookup: true });
    await server.control({ op: 'fault', kind: 'silence', method: 'tools/call' });
    const call = workCall(server.endpoint, { ms: 20 });
    const first = stage().process({ call, policy: FAST });
    await eventually(async () => ((await server.log()).executions ?? 0) === 1);
    await first.kill();
    stage().process({ url: server.url, policy: FAST });
    const reader = await stage().rig.executor();
    const { receipt } = await eventually(() => reader.outcome(reader.operationIdOf(call)), 15_000);
    expect(receipt.outcome).toBe('completed');
    expect(await callsSeen(server)).toBe(1);
  });

  it('B4 G2: the same call started by two processes at once: one operation, both get the receipt', async () => {
    const server = await stage().server();
    const call = workCall(server.endpoint, { ms: 200 });
    const processes = [stage().process({ call, policy: FAST }), stage().process({ call, policy: FAST })];
    const outcomes = await Promise.all(processes.map((process) => process.line((line) => 'outcome' in line)));
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(await callsSeen(server)).toBe(1);
  });

  it('while a cancel is owed: the second process sends it', async () => {
    const server = await stage().server();
    const call = workCall(server.endpoint, { outcome: 'hold' });
    const first = stage().process({ call, policy: FAST });
    const reader = await stage().rig.executor();
    const id = reader.operationIdOf(call);
    await until(reader, id, (path) => path === 'WORKING.polling');
    first.signal('SIGSTOP');
    await reader.cancel(id);
    await first.kill();
    stage().process({ url: server.url, policy: FAST });
    const { receipt } = await eventually(() => reader.outcome(id), 15_000);
    expect(receipt).toMatchObject({ outcome: 'cancelled', cancelGeneration: 1 });
  });

  it('over stdio the server dies too: PARKED with that reason, never called again', async () => {
    const { stdioCommand } = await import('../kit/servers/mcp-2025-11-25.ts');
    const call = workCall(stdioCommand(), { outcome: 'hold' });
    const first = stage().process({ call, policy: FAST });
    const reader = await stage().rig.executor();
    const id = reader.operationIdOf(call);
    await until(reader, id, (path) => path === 'WORKING.polling');
    await first.kill();
    const { snapshot } = await until(reader, id, (path) => path.startsWith('PARKED'), 20_000);
    expect(snapshot.context.parked?.reason).toBe('server-gone');
    expect((await pathOf(stage().ledger, id)).filter((path) => path === 'SUBMITTING.sending')).toHaveLength(1);
  });
});
