/**
 * The rollback drill in the middle of a rollout: five of a hundred call nodes go to a new adapter while calls come in without a
 * pause; then `toolop rollback`, and an executor of the new epoch ends what was in flight. The checker judges the whole history.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../adapters/mcp-2026-07-28/index.ts';
import { consumeReady, Executor, openOperationsByEpoch, setRolloutRule, type ToolCall } from '../../machines/index.ts';
import { Command } from '../cli/command.ts';
import { check } from '../kit/checker.ts';
import { type Delivery, recordHistory } from '../kit/record.ts';
import { type ScriptedServer2026, startScriptedServer2026 } from '../kit/servers/mcp-2026-07-28.ts';
import { accepted, eventually, FAST, NAMESPACE } from '../support/rig.ts';
import { callsSeen, useStage } from '../support/stage.ts';

const OLD = 'mcp-2025-11-25';
const NEW = 'mcp-2026-07-28';
const NODES = 400;
/** Nothing here is about polling. */
const CALM = { ...FAST, pollIntervalMs: 500, minPollIntervalMs: 400, maxPollIntervalMs: 1_000, waitBudgetMs: 90_000 };
/** A call whose commit came before the raise may reach its server a moment after it, ms. */
const ON_THE_WIRE_MS = 1_000;

describe('a rollback in the middle of a rollout', () => {
  const stage = useStage('redis');
  let modern: ScriptedServer2026 | undefined;
  afterAll(async () => modern?.stop());

  it('R2 R3 R4 G2 G6: 5 % on a new adapter, the raise under traffic: all end in a receipt or parked, nothing is submitted afterwards, nothing is called twice', async () => {
    const { ledger, rig } = stage();
    const [older, silent, idle] = await Promise.all([
      stage().server(),
      // Takes every call, and never answers one: each times out, and there is no look-up.
      stage().server({ describe: 'silent' }),
      // Served by nobody before the rollback.
      stage().server({ describe: 'idle' }),
    ]);
    const newer = await startScriptedServer2026();
    modern = newer;
    await silent.control({ op: 'fault', kind: 'silence', method: 'tools/call', times: NODES });
    const servers = [older, silent, idle, newer];
    const counts = () => Promise.all(servers.map((server) => callsSeen(server)));
    const protocols = [mcp20251125(), mcp20260728()];

    const deliveries: Delivery[] = [];
    const enough = new AbortController();
    const handle = async (outcome: Delivery['outcome']) => {
      deliveries.push({ operationId: outcome.receipt.operationId, outcome, acknowledged: true });
    };
    const consuming = consumeReady({ ledger, consumer: 'downstream', idleMs: 50, handle }, enough.signal);

    // 5 % of what would be made with the new adapter; the others are made as before, outside of the ledger.
    await setRolloutRule(ledger, { of: 'adapter', name: NEW, mode: { percent: 5 } });
    const served = [older, silent, newer].map(({ endpoint }) => endpoint);
    const old = await rig.executor({ protocols, endpoints: served, policy: CALM, requestTimeoutMs: 1_000 });
    const callOf = (server: { endpoint: ToolCall['endpoint'] }, protocol: string, name: string, script = {}) => ({
      ...{ callNodeId: name, endpoint: server.endpoint, protocol, tool: 'work' },
      arguments: { script: { ...script, callNode: name } },
    });
    const half = (nth: number) => (nth % 2 === 0 ? { outcome: 'hold' } : { ms: 10 });

    const rolling = Array.from({ length: NODES }, (_, nth) => callOf(newer, NEW, `rolling-${nth}`, half(nth)));
    const routes = await Promise.all(rolling.map((call) => old.route(call)));
    const chosen = rolling.filter((_, nth) => routes[nth]?.side === 'operation');
    expect(chosen.length).toBeGreaterThan(8);
    expect(chosen.length).toBeLessThan(40);
    const ordinary = rolling.find((_, nth) => routes[nth]?.side === 'ordinary') as ToolCall;
    expect(await old.submit(ordinary)).toMatchObject({ kind: 'refused' });

    const submitted = new Map<string, ToolCall>();
    const submit = async (call: ToolCall) => submitted.set(await accepted(old, call), call);
    const timedOut = Array.from({ length: 12 }, (_, nth) => callOf(silent, OLD, `silent-${nth}`, { ms: 10 }));
    const waiting = Array.from({ length: 10 }, (_, nth) => callOf(idle, OLD, `idle-${nth}`, { ms: 10 }));
    await Promise.all([...chosen, ...timedOut].map(submit));
    await eventually(async () => (await callsSeen(silent)) === timedOut.length, 30_000);

    // Traffic without a pause. What comes too late is refused, and has sent nothing.
    let refused = 0;
    let over = false;
    const traffic = (async () => {
      for (let nth = 0; !over; nth++) {
        const call = callOf(older, OLD, `traffic-${nth}`, half(nth));
        const answer = await old.submit(call);
        if (answer.kind === 'refused') refused += 1;
        else submitted.set(answer.operationId, call);
        await sleep(10);
      }
    })();
    // Where the test fails before, nobody waits for it.
    traffic.catch(() => undefined);
    await eventually(async () => (await callsSeen(older)) > 100, 60_000);
    // Takes calls, and sends nothing.
    const desk = new Executor({ ledger, namespace: NAMESPACE, protocols, policy: CALM });
    for (const call of waiting) submitted.set(await accepted(desk, call), call);

    const rollback = new Command(['rollback', '--ledger', rig.address, '--namespace', NAMESPACE, '--json']);
    const raised = await rollback.line(({ type }) => type === 'rollback');
    const raisedAt = Date.now();
    await eventually(async () => old.epochOver.aborted);
    await eventually(async () => refused > 0);
    over = true;
    await traffic;
    await sleep(ON_THE_WIRE_MS);
    const sent = await counts();
    expect(sent[2]).toBe(0);

    const current = await rig.executor({ protocols, endpoints: servers.map(({ endpoint }) => endpoint), policy: CALM });
    expect(current.env.executionEpoch).toBe(raised.epoch);
    for (const server of [older, newer])
      for (const { taskId, status } of await server.tasks())
        if (status === 'working') await server.control({ op: 'complete', taskId });
    const ended = await rollback.end();
    expect([ended.code, ended.last]).toEqual([0, expect.objectContaining({ epoch: raised.epoch, inFlight: 0 })]);

    // Asked again by whomever, a call that timed out is the same operation, and a call node keeps its side.
    for (const executor of [old, current])
      for (const call of timedOut)
        expect(await executor.submit(call)).toMatchObject({ kind: 'accepted', existing: true });
    const sides = await Promise.all(rolling.map(async (call) => (await current.route(call)).side));
    expect(sides).toEqual(routes.map(({ side }) => side));
    expect(await current.submit(callOf(older, OLD, 'too-late'))).toMatchObject({ kind: 'refused' });

    // What is queued, nothing was sent of: a cancel ends it.
    const queued = [...(await openOperationsByEpoch(ledger)).byEpoch.values()].reduce(
      (sum, each) => sum + each.queued,
      0,
    );
    expect(queued).toBeGreaterThanOrEqual(waiting.length);
    for (const id of submitted.keys())
      if ((await current.load(id))?.record.state.startsWith('SUBMITTING')) await current.cancel(id, 'the rollback');
    await eventually(async () => {
      const { inFlight, byEpoch } = await openOperationsByEpoch(ledger);
      return inFlight === 0 && [...byEpoch.values()].every((each) => each.queued === 0);
    }, 30_000);

    const open = await openOperationsByEpoch(ledger);
    const parked = new Set(open.parkedOnes.map(({ operationId }) => operationId));
    const advancing = [...submitted.keys()].filter((id) => !parked.has(id));
    await eventually(async () => deliveries.length >= advancing.length, 30_000);
    enough.abort();
    await Promise.all([consuming, desk.stop()]);

    expect(
      [...submitted]
        .filter(([id]) => parked.has(id))
        .map(([, { callNodeId }]) => callNodeId)
        .sort(),
    ).toEqual(timedOut.map(({ callNodeId }) => callNodeId).sort());
    expect(await counts()).toEqual(sent);
    for (const server of servers)
      for (const { method, at } of (await server.log()).requests)
        if (method === 'tools/call') expect(at).toBeLessThan(raisedAt + ON_THE_WIRE_MS);
    for (const id of submitted.keys())
      for (const { to, at } of await ledger.readHistory(id))
        if (to === 'SUBMITTING.sending') expect(at).toBeLessThan(raisedAt);
    expect(deliveries.map(({ operationId }) => operationId).sort()).toEqual(advancing.sort());
    for (const { operationId, outcome } of deliveries)
      expect((await current.outcome(operationId))?.receipt).toEqual(outcome.receipt);
    expect(await ledger.audit()).toEqual([]);
    const judged = servers.map(({ port }) =>
      port === newer.port ? { port, revision: '2026-07-28' as const } : { port },
    );
    expect(check(await recordHistory({ ledger, servers: judged, deliveries, settled: true }))).toEqual([]);
  }, 180_000);
});
