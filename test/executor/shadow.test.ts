import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, describe, expect, it } from 'vitest';
import {
  clearRollout,
  consumeReady,
  type Executor,
  type LogEntry,
  type OperationLedger,
  readOutcome,
  setRolloutRule,
  shadowNamespace,
  shadowReport,
  switchAdapter,
  type ToolCall,
} from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import type { Script, ScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { eventually, LEDGERS, NAMESPACE, until, workCall } from '../support/rig.ts';
import { callsSeen, useStage } from '../support/stage.ts';

const ADAPTER = 'mcp-2025-11-25';

describe.each(LEDGERS)('shadows on the %s ledger', (kind) => {
  const stage = useStage(kind);
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  /** Two ledgers, an executor on both, and a server whose tools are rolled out as shadows. */
  async function scene(wrap: (ledger: OperationLedger) => OperationLedger = (ledger) => ledger) {
    const server = await stage().server();
    const opened = await openLedger(stage().rig.address, { namespace: NAMESPACE, kind: 'shadow' });
    closers.push(() => opened.close());
    const log: LogEntry[] = [];
    const executor = await stage().rig.executor({ shadowLedger: wrap(opened), log: (entry) => log.push(entry) });
    closers.push(() => executor.stop());
    await clearRollout(stage().ledger);
    for (const name of ['work', 'typed']) {
      await setRolloutRule(stage().ledger, { of: 'tool', name, mode: 'shadow', effectFree: true });
    }
    const before = await shadowReport(opened);
    return { server, shadows: opened, executor, log, before };
  }
  type Scene = Awaited<ReturnType<typeof scene>>;
  const shadowIdOf = (ledger: OperationLedger, { callNodeId }: ToolCall) =>
    ledger.operationIdOf({ namespace: shadowNamespace(NAMESPACE), principal: 'local', callNodeId });
  const overIn = (ledger: OperationLedger, id: string) =>
    eventually(async () => (await ledger.readReceipt(id)) !== null);
  const said = ({ log }: Scene, event: string, why: string) =>
    eventually(async () => log.some((entry) => entry.event === event && String(entry.detail?.why).includes(why)));

  /** As a program calls a tool that knows nothing of this project. */
  async function ordinaryClient(server: ScriptedServer) {
    const client = new Client({ name: 'ordinary', version: '1' });
    const { url } = server.endpoint as { readonly url: string };
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport);
    closers.push(() => client.close());
    return (call: ToolCall) => () => client.callTool({ name: call.tool, arguments: { ...call.arguments } });
  }

  it('R1: beside the ordinary call, told to the server, compared, and seen by nobody downstream', async () => {
    const { server, shadows, executor, before } = await scene();
    const ordinary = await ordinaryClient(server);
    const call = workCall(server.endpoint, { ms: 5 });
    expect(await executor.route(call)).toMatchObject({ side: 'shadow', rule: 'tool shadow' });
    const returned = await executor.shadow(call, ordinary(call));
    expect(returned).toEqual({ content: [{ type: 'text', text: 'done' }] });
    const id = shadowIdOf(shadows, call);
    await overIn(shadows, id);

    const calls = (await server.log()).requests.filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ meta }) => meta['dev.toolop/shadow'] ?? 'ordinary').sort()).toEqual(['ordinary', true]);
    const receipt = JSON.parse((await shadows.readReceipt(id)) as string);
    expect(receipt).toMatchObject({ namespace: shadowNamespace(NAMESPACE), outcome: 'completed' });

    // Nobody can take it for an outcome of the call.
    await expect(executor.wait(executor.operationIdOf(call))).rejects.toThrow(/no operation/);
    expect(await executor.outcome(executor.operationIdOf(call))).toBeNull();
    await expect(readOutcome(shadows, id)).rejects.toThrow(/is a shadow/);
    const consumed: string[] = [];
    const stop = new AbortController();
    const consumers = [stage().ledger, shadows].map((ledger) =>
      consumeReady(
        {
          ledger,
          consumer: 'c',
          idleMs: 5,
          handle: async (outcome) => void consumed.push(outcome.receipt.operationId),
        },
        stop.signal,
      ),
    );
    for (const ledger of [stage().ledger, shadows]) {
      expect(await ledger.leaseReady('other', 10, 1_000)).toEqual([]);
      expect(await ledger.audit()).toEqual([]);
    }
    const after = await eventually(async () => {
      const report = await shadowReport(shadows);
      return report.compared > before.compared ? report : null;
    });
    stop.abort();
    await Promise.all(consumers);
    expect(consumed).toEqual([]);
    expect(after).toMatchObject({ equal: before.equal + 1, different: before.different, calls: before.calls + 1 });
    expect(await executor.submit(call)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('"shadow"') });
  });

  it('R1: a planted difference is found, by the name of the field', async () => {
    const { server, shadows, executor, before } = await scene();
    const ordinary = await ordinaryClient(server);
    const call = workCall(server.endpoint, {}, { tool: 'typed' });
    await server.control({
      op: 'fault',
      kind: 'answer',
      method: 'tasks/result',
      times: 9,
      result: { content: [{ type: 'text', text: 'done' }], structuredContent: { answer: 41 } },
    });
    await executor.shadow(call, ordinary(call));
    await overIn(shadows, shadowIdOf(shadows, call));
    const after = await eventually(async () => {
      const report = await shadowReport(shadows);
      return report.compared > before.compared ? report : null;
    });
    expect(after.different).toBe(before.different + 1);
    expect(after.fields).toEqual([{ field: 'structuredContent.answer', count: 1 }]);
    // Digests, not values.
    expect(await shadows.comparison(shadowIdOf(shadows, call))).toBe(
      '{"kind":"different","fields":["structuredContent.answer"]}',
    );
  });

  it('R1: the comparison is made whichever side is over last, and a retry neither calls again nor reports again', async () => {
    const { server, shadows, executor, before } = await scene();
    const call = workCall(server.endpoint, { outcome: 'hold' });
    const equal = { kind: 'result', value: { content: [{ type: 'text', text: 'done' }] }, isError: false } as const;
    // The ordinary call is over first.
    await executor.reportOrdinary(call, equal);
    expect((await executor.beginShadow(call)).kind).toBe('begun');
    expect((await executor.beginShadow(call)).kind).toBe('begun');
    await executor.reportOrdinary(call, { ...equal, isError: true });
    await eventually(async () => (await server.tasks()).some(({ status }) => status === 'working'));
    expect(await shadowReport(shadows)).toMatchObject({ waiting: before.waiting + 1, compared: before.compared });
    await server.control({ op: 'complete', taskId: 'last' });
    await overIn(shadows, shadowIdOf(shadows, call));
    // The shadow is.
    const late = workCall(server.endpoint, {});
    await executor.beginShadow(late);
    await overIn(shadows, shadowIdOf(shadows, late));
    expect((await shadowReport(shadows)).missing.ordinary).toBe(before.missing.ordinary + 1);
    await executor.reportOrdinary(late, equal);
    expect(await shadows.comparison(shadowIdOf(shadows, late))).toBe('{"kind":"equal"}');
    const report = await shadowReport(shadows);
    expect(report).toMatchObject({ equal: before.equal + 2, missing: before.missing, waiting: before.waiting });
    expect(await callsSeen(server)).toBe(2);
  });

  it.runIf(kind === 'embedded')(
    'R1: the ordinary outcome is untouched when the shadow is refused, fails or hangs',
    async () => {
      const value = { content: [], own: Symbol('as it was') };
      const failure = new Error('the ordinary call failed');
      const proxied = (ledger: OperationLedger, answer: () => Promise<never>): OperationLedger =>
        new Proxy(ledger, {
          get: (target, name) => {
            const member: unknown = Reflect.get(target, name);
            if (typeof member !== 'function') return member;
            const left = ['create', 'setComparison', 'comparison'].includes(String(name));
            return left ? answer : member.bind(target);
          },
        });
      const rejecting = await scene((ledger) => proxied(ledger, () => Promise.reject(new Error('no ledger today'))));
      const hanging = await scene((ledger) => proxied(ledger, () => new Promise(() => undefined)));
      const plain = await scene();
      const bare = { executor: await stage().rig.executor(), server: plain.server };
      for (const { executor, server } of [rejecting, hanging, plain, bare]) {
        for (const endpoint of [server.endpoint, { kind: 'http', url: 'http://127.0.0.1:9/mcp' } as const]) {
          const call = workCall(endpoint, {});
          expect(await executor.shadow(call, async () => value)).toBe(value);
          await expect(executor.shadow(call, () => Promise.reject(failure))).rejects.toBe(failure);
          await expect(
            executor.shadow(call, () => {
              throw failure;
            }),
          ).rejects.toBe(failure);
          const reader = {
            returned: () => {
              throw new Error('cannot read that');
            },
          };
          expect(await executor.shadow(call, async () => value, reader)).toBe(value);
        }
        expect(await executor.shadow({ ...workCall(server.endpoint, {}), callNodeId: '' }, async () => value)).toBe(
          value,
        );
      }
      await said(rejecting, 'shadow.failed', 'Error');
      await said(plain, 'shadow.none', 'cannot be reached');
      await said(plain, 'shadow.failed', 'returned');
    },
  );

  it('R1: no shadow is begun any more once its rule is taken back, its adapter drained or creation off; the side stays', async () => {
    const { server, executor } = await scene();
    const { ledger } = stage();
    const [one, two, three] = [0, 1, 2].map(() => workCall(server.endpoint, {})) as [ToolCall, ToolCall, ToolCall];
    for (const call of [one, two]) await executor.route(call);
    await switchAdapter(ledger, ADAPTER, 'draining');
    expect(await executor.beginShadow(one)).toEqual({ kind: 'none', reason: expect.stringContaining('draining') });
    await switchAdapter(ledger, ADAPTER, 'active');
    await ledger.setCreation(false);
    expect(await executor.beginShadow(one)).toEqual({ kind: 'none', reason: expect.stringContaining('switched off') });
    await ledger.setCreation(true);
    await setRolloutRule(ledger, { of: 'tool', name: 'work', mode: { percent: 0 }, effectFree: true });
    expect(await executor.beginShadow(two)).toEqual({ kind: 'none', reason: expect.stringContaining('taken back') });
    expect(await executor.route(two)).toMatchObject({ side: 'shadow' });
    // A call on another side never had one.
    expect(await executor.beginShadow(three)).toEqual({ kind: 'none', reason: expect.stringContaining('"ordinary"') });
    await expect(executor.reportOrdinary(three, { kind: 'result', value: {}, isError: false })).rejects.toThrow(
      /no shadow to be compared with/,
    );
    expect(await callsSeen(server)).toBe(0);
  });

  it('R1: a shadow that is parked counts as missing', async () => {
    const { server, shadows, executor, before } = await scene();
    const call = workCall(server.endpoint, { outcome: 'hold' }, { policy: { waitBudgetMs: 200 } });
    await executor.reportOrdinary(call, { kind: 'result', value: { content: [] }, isError: false });
    await executor.beginShadow(call);
    const id = shadowIdOf(shadows, call);
    const atShadows: Pick<Executor, 'load'> = {
      load: async (operationId) => {
        const record = await shadows.load(operationId);
        return record && executor.env.store.open(record);
      },
    };
    await until(atShadows, id, (state) => state.startsWith('PARKED'));
    expect((await shadowReport(shadows)).missing.shadow).toBe(before.missing.shadow + 1);
  });

  it('R1: only a ledger of shadows holds shadows', async () => {
    await expect(stage().rig.executor({ shadowLedger: stage().ledger })).rejects.toThrow(/kind "shadow"/);
    await expect(shadowReport(stage().ledger)).rejects.toThrow(/no ledger of shadows/);
    const executor = await stage().rig.executor();
    const script: Script = {};
    await expect(executor.beginShadow(workCall({ kind: 'http', url: 'http://127.0.0.1:9/' }, script))).rejects.toThrow(
      /shadowLedger/,
    );
  });
});
