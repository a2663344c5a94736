import { describe, expect, it } from 'vitest';
import {
  clearRollout,
  clearRolloutRule,
  type Executor,
  LedgerIncompatible,
  rolloutOf,
  setRolloutRule,
  type ToolCall,
} from '../../machines/index.ts';
import { accepted, LEDGERS, workCall } from '../support/rig.ts';
import { callsSeen, useStage } from '../support/stage.ts';

const NODES = 200;
const ADAPTER = 'mcp-2025-11-25';
const nowhere: ToolCall['endpoint'] = { kind: 'http', url: 'http://127.0.0.1:9/mcp' };

describe.each(LEDGERS)('rolling out on the %s ledger', (kind) => {
  const stage = useStage(kind);
  const fresh = async () => {
    await clearRollout(stage().ledger);
    return stage().rig.executor();
  };
  const percent = (value: number) => setRolloutRule(stage().ledger, { of: 'default', mode: { percent: value } });
  const sides = (executor: Executor, calls: readonly ToolCall[]) =>
    Promise.all(calls.map(async (call) => (await executor.route(call)).side));

  it('R2: without any rule every call is an operation, and nothing is recorded', async () => {
    const executor = await fresh();
    const call = workCall(nowhere, {});
    expect(await executor.route(call)).toEqual({
      operationId: executor.operationIdOf(call),
      side: 'operation',
      recordedAt: null,
      rule: null,
    });
  });

  it('R2: a recorded side survives 5 % → 0 % → 100 %, another executor and a restart; new call nodes follow the rule', async () => {
    const executor = await fresh();
    const calls = Array.from({ length: NODES }, () => workCall(nowhere, {}));
    expect(await percent(5)).toMatchObject({ complete: true, rules: [{ of: 'default', mode: { percent: 5 } }] });
    const first = await Promise.all(calls.map((call) => executor.route(call)));
    const operations = first.filter(({ side }) => side === 'operation').length;
    expect(operations).toBeGreaterThan(0);
    expect(operations).toBeLessThan(NODES / 4);
    expect(first[0]).toMatchObject({ rule: 'default 5%', recordedAt: expect.any(Number) });

    await percent(0);
    expect(await Promise.all(calls.map((call) => executor.route(call)))).toEqual(first);
    expect(
      new Set(
        await sides(
          executor,
          Array.from({ length: 20 }, () => workCall(nowhere, {})),
        ),
      ),
    ).toEqual(new Set(['ordinary']));

    await percent(100);
    await executor.stop();
    // It opens the ledger anew, and knows no rules yet.
    const restarted = await stage().rig.executor();
    expect(await Promise.all(calls.map((call) => restarted.route(call)))).toEqual(first);
    expect(
      new Set(
        await sides(
          restarted,
          Array.from({ length: 20 }, () => workCall(nowhere, {})),
        ),
      ),
    ).toEqual(new Set(['operation']));
  });

  it('R2: a call on the ordinary side is not submitted, and says so; on the other side it is', async () => {
    const executor = await fresh();
    const server = await stage().server();
    await setRolloutRule(stage().ledger, { of: 'tool', name: 'work', mode: 'off' });
    const call = workCall(server.endpoint, { ms: 1 });
    const refused = {
      kind: 'refused',
      reason: expect.stringMatching(/side "ordinary" \(rule: tool off\), for good/),
      next: expect.stringContaining('a retry takes the same side'),
    };
    expect(await executor.submit(call)).toEqual(refused);
    await setRolloutRule(stage().ledger, { of: 'tool', name: 'work', mode: 'on' });
    expect(await executor.submit(call)).toEqual(refused);
    expect(await executor.load(executor.operationIdOf(call))).toBeNull();
    const id = await accepted(executor, workCall(server.endpoint, { ms: 1 }));
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    expect(await callsSeen(server)).toBe(1);
  });

  it('R2: an operation that exists goes on and is attached to, whatever the rules say by now', async () => {
    const executor = await fresh();
    const server = await stage().server();
    const call = workCall(server.endpoint, { outcome: 'hold' });
    const id = await accepted(executor, call);
    await setRolloutRule(stage().ledger, { of: 'default', mode: 'off' });
    expect(await executor.submit(call)).toEqual({ kind: 'accepted', operationId: id, existing: true });
    expect(await executor.route(call)).toMatchObject({ side: 'operation' });
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('R2: a call that took the ordinary side while another process negotiates it makes no operation', async () => {
    const executor = await fresh();
    const server = await stage().server();
    const call = workCall(server.endpoint, {});
    await server.control({ op: 'fault', kind: 'hold', method: 'tools/list' });
    const submitted = executor.submit(call);
    for (let asked = 0; asked === 0; ) asked = (await server.log()).counts['tools/list'] ?? 0;
    await setRolloutRule(stage().ledger, { of: 'default', mode: 'off' });
    const other = await stage().rig.executor();
    expect(await other.route(call)).toMatchObject({ side: 'ordinary' });
    await server.control({ op: 'release' });
    expect(await submitted).toMatchObject({ kind: 'refused', reason: expect.stringContaining('"ordinary"') });
    expect(await executor.load(executor.operationIdOf(call))).toBeNull();
    expect(await callsSeen(server)).toBe(0);
  });

  it('R2: a rule of an adapter, taken back', async () => {
    const executor = await fresh();
    await setRolloutRule(stage().ledger, { of: 'default', mode: 'on' });
    await setRolloutRule(stage().ledger, { of: 'adapter', name: ADAPTER, mode: 'off' });
    expect(await executor.route(workCall(nowhere, {}))).toMatchObject({ side: 'ordinary', rule: 'adapter off' });
    const view = await clearRolloutRule(stage().ledger, { of: 'adapter', name: ADAPTER });
    expect(view).toMatchObject({ complete: true, rules: [{ of: 'default', mode: 'on' }] });
    expect(await executor.route(workCall(nowhere, {}))).toMatchObject({ side: 'operation', rule: 'default on' });
  });

  it('R1: an undeclared shadow is refused when it is set, and when it is read; nothing is sent then', async () => {
    const executor = await fresh();
    const server = await stage().server();
    const before = await rolloutOf(stage().ledger);
    const undeclared = { of: 'tool', name: 'work', mode: 'shadow' } as const;
    await expect(setRolloutRule(stage().ledger, undeclared)).rejects.toThrow(/declared free of effects/);
    expect(await rolloutOf(stage().ledger)).toEqual(before);

    const planted = JSON.stringify({ schema: 'rollout.v1', rules: [undeclared] });
    const [copy] = await stage().ledger.rollouts();
    await stage().ledger.setRollout(planted, copy?.version ?? '0');
    await expect(executor.route(workCall(server.endpoint, {}))).rejects.toThrow(LedgerIncompatible);
    await expect(executor.submit(workCall(server.endpoint, {}))).rejects.toThrow(
      /declared free of effects.*nothing was sent/,
    );
    expect(await callsSeen(server)).toBe(0);
    // Also what nobody can read can be taken back.
    expect(await clearRollout(stage().ledger)).toMatchObject({ rules: [], complete: true });
    expect(await executor.route(workCall(server.endpoint, {}))).toMatchObject({ side: 'operation' });
  });

  it('R2: a call that is none is refused before anything is recorded', async () => {
    const executor = await fresh();
    await percent(100);
    await expect(executor.route({ ...workCall(nowhere, {}), callNodeId: '' })).rejects.toThrow();
  });
});
