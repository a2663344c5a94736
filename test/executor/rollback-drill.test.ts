/**
 * The rollback drill: operations under two adapters, some sent and some not, some whose answer was lost; creating is
 * switched off and the epoch raised in mid-flight, and a second executor takes over on the same ledger.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../adapters/mcp-2026-07-28/index.ts';
import { adoptAll, consumeReady, Executor, openOperationsByEpoch, type ToolCall } from '../../machines/index.ts';
import { type ScriptedServer2026, startScriptedServer2026 } from '../kit/servers/mcp-2026-07-28.ts';
import { accepted, eventually, FAST, LEDGERS, NAMESPACE, until, workCall } from '../support/rig.ts';
import { callsSeen, useStage } from '../support/stage.ts';

const OLD = 'mcp-2025-11-25';
const NEW = 'mcp-2026-07-28';
/** Nothing here is about polling. */
const CALM = { ...FAST, pollIntervalMs: 500, minPollIntervalMs: 400, maxPollIntervalMs: 1_000, waitBudgetMs: 90_000 };

describe.each(LEDGERS)('a rollback on the %s ledger', (kind) => {
  const stage = useStage(kind);
  const newer: ScriptedServer2026[] = [];
  afterAll(async () => {
    await Promise.all(newer.map((server) => server.stop()));
  });

  it('R3 R4 G6: 40 operations in mid-flight all end in a receipt or parked, nothing is submitted after the raise, every advance has its receipt', async () => {
    const { ledger } = stage();
    const [older, modern, losing] = await Promise.all([
      stage().server(),
      startScriptedServer2026(),
      // Whose answers to submissions are lost: it has no look-up.
      stage().server({ describe: 'losing' }),
    ]);
    newer.push(modern);
    const servers = [older, modern, losing] as const;
    const calls = async () => Promise.all(servers.map((server) => callsSeen(server)));
    const endpoints = servers.map(({ endpoint }) => endpoint);
    const protocols = [mcp20251125(), mcp20260728()];

    const advanced = new Map<string, string>();
    const stopConsumer = new AbortController();
    const consumer = consumeReady(
      {
        ledger,
        consumer: 'downstream',
        idleMs: 50,
        handle: async ({ receipt }) => void advanced.set(receipt.operationId, receipt.receiptId),
      },
      stopConsumer.signal,
    );

    let paused = false;
    const old = await stage().rig.executor({ protocols, endpoints, policy: CALM, creationAllowed: () => !paused });
    const make = (count: number, call: () => ToolCall, by = old) =>
      Promise.all(Array.from({ length: count }, () => submitted(call(), by)));
    const submitted = async (call: ToolCall, by = old) => ({ call, id: await accepted(by, call) });
    const of = (server: { endpoint: ToolCall['endpoint'] }, protocol: string, script: object) => () =>
      workCall(server.endpoint, script, { protocol });

    await losing.control({ op: 'fault', kind: 'reset', method: 'tools/call', times: 100 });
    const [done, working, modernDone, modernWorking, lost] = await Promise.all([
      make(8, of(older, OLD, { ms: 10 })),
      make(12, of(older, OLD, { outcome: 'hold' })),
      make(2, of(modern, NEW, { ms: 10 })),
      make(6, of(modern, NEW, { outcome: 'hold' })),
      make(4, of(losing, OLD, { ms: 10 })),
    ]);
    for (const { id } of [...working, ...modernWorking]) await until(old, id, (state) => state === 'WORKING.polling');
    for (const { id } of lost) await until(old, id, (state) => state.startsWith('PARKED'));
    for (const { id } of [...done, ...modernDone]) await old.wait(id);
    // Made by a process that sends nothing; the one that sends is paused.
    paused = true;
    const desk = new Executor({ ledger, namespace: NAMESPACE, protocols, policy: CALM });
    const waiting = [
      ...(await make(5, of(older, OLD, { ms: 10 }), desk)),
      ...(await make(3, of(modern, NEW, { ms: 10 }), desk)),
    ];
    const all = [...done, ...working, ...modernDone, ...modernWorking, ...lost, ...waiting];
    expect(all.length).toBe(40);
    const sentBefore = await calls();
    expect(sentBefore).toEqual([20, 8, 4]);

    // The rollback. From here on the old executor would like to send what is queued.
    await ledger.setCreation(false);
    const epoch = await ledger.raiseEpoch();
    paused = false;
    const { adopted } = await adoptAll(ledger);
    expect(adopted.get(epoch - 1)).toBe(12 + 6 + 4 + 8);
    const current = await stage().rig.executor({ protocols, endpoints, policy: CALM });
    await eventually(async () => old.epochOver.aborted);
    for (const server of [older, modern])
      for (const { taskId } of await server.tasks()) await server.control({ op: 'complete', taskId });
    await eventually(async () => (await openOperationsByEpoch(ledger)).inFlight === 0, 30_000);

    const open = await openOperationsByEpoch(ledger);
    expect(open).toMatchObject({ inFlight: 0, queued: 8, parked: 4, unreadable: [] });
    expect([...open.byEpoch.keys()]).toEqual([epoch]);
    expect(open.parkedOnes.map(({ operationId }) => operationId).sort()).toEqual(lost.map(({ id }) => id).sort());
    // Whose answer was lost is never called again, asked by whomever; nor is anything that was not sent.
    for (const { call, id } of [...lost, ...waiting]) {
      const attached = { kind: 'accepted', operationId: id, existing: true };
      expect([await current.submit(call), await old.submit(call)]).toEqual([attached, attached]);
    }
    expect(await current.submit(workCall(older.endpoint, {}))).toMatchObject({ kind: 'refused' });
    // What waits on its queue, nothing was sent of: a cancel ends it.
    for (const { id } of waiting) expect(await current.cancel(id)).toMatchObject({ kind: 'taken' });
    for (const { id } of [...working, ...modernWorking])
      expect((await current.wait(id)).receipt).toMatchObject({ outcome: 'completed', executionEpoch: epoch });
    for (const { id } of waiting)
      expect((await current.wait(id)).receipt).toMatchObject({ outcome: 'not_submitted', taskId: null });
    expect(await calls()).toEqual(sentBefore);

    const ended = all.filter((each) => !lost.includes(each)).map(({ id }) => id);
    await eventually(async () => advanced.size >= ended.length);
    stopConsumer.abort();
    await Promise.all([consumer, desk.stop()]);
    expect([...advanced.keys()].sort()).toEqual([...ended].sort());
    for (const [id, receiptId] of advanced) expect((await current.outcome(id))?.receipt.receiptId).toBe(receiptId);
    expect(await ledger.audit()).toEqual([]);
  }, 120_000);
});
