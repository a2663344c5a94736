import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { createOperationLogic, LedgerUnavailable, type OperationLedger } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { freePort } from '../kit/free-port.ts';
import { controls, stdioCommand } from '../kit/servers/mcp-2025-11-25.ts';
import { accepted, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const away = new Set<OperationLedger>();
/** A ledger that cannot be reached while it is in `away`. */
function partitioned(ledger: OperationLedger): OperationLedger {
  const proxy: OperationLedger = new Proxy(ledger, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      if (['operationIdOf', 'partitionOf', 'onChange', 'close'].includes(String(name))) return value.bind(target);
      return async (...args: unknown[]) => {
        if (away.has(proxy)) throw new LedgerUnavailable('away');
        return (value as (...a: unknown[]) => unknown).apply(target, args);
      };
    },
  });
  return proxy;
}

describe('a stdio server whose process was out of touch with the ledger for a while', () => {
  const stage = useStage('embedded');

  it('the operation goes on afterwards', async () => {
    const a = partitioned(await stage().rig.ledger());
    const b = partitioned(await stage().rig.ledger());
    const owner = await stage().rig.executor({ ledger: a });
    const other = await stage().rig.executor({ ledger: b });
    const port = await freePort();
    const id = await accepted(owner, workCall(stdioCommand({}, port), { outcome: 'hold' }));
    await until(owner, id, (state) => state === 'WORKING.polling');
    away.add(a);
    const parked = await until(other, id, (state) => state.startsWith('PARKED'));
    expect(parked.snapshot.context.parked?.reason).toBe('server-gone');
    away.clear();
    await until(other, id, (state) => state === 'WORKING.polling');
    await controls(port).control({ op: 'complete', taskId: 'last' });
    await until(other, id, (state) => state === 'ACCEPTED');
  });
});

describe('a ledger that is away for a moment', () => {
  const stage = useStage('embedded');

  it('does not swallow the answer of the human', async () => {
    const server = await stage().server({ describe: 'answer' });
    const ledger = partitioned(await stage().rig.ledger());
    const executor = await stage().rig.executor({
      ledger,
      approval: {
        async ask() {
          await pause(500);
          away.add(ledger);
          setTimeout(() => away.delete(ledger), 300);
          return { action: 'accept', content: { word: 'yes' } };
        },
      },
    });
    const id = await accepted(executor, workCall(server.endpoint, { ask: 1 }));
    await until(executor, id, (state) => state === 'INPUT_REQUIRED.awaiting');
    await pause(6_000);
    const { snapshot } = (await executor.load(id)) as NonNullable<Awaited<ReturnType<typeof executor.load>>>;
    expect(statePath(snapshot)).toBe('ACCEPTED');
  });

  it('does not swallow the cancel of a parent', async () => {
    const server = await stage().server({ describe: 'parent' });
    const ledger = partitioned(await stage().rig.ledger());
    const executor = await stage().rig.executor({ ledger });
    const call = workCall(server.endpoint, { ms: 4_000 });
    const actor = createActor(createOperationLogic({ executor }), { input: call });
    actor.start();
    await until(executor, executor.operationIdOf(call), (state) => state === 'WORKING.polling');
    away.add(ledger);
    actor.send({ type: 'cancel' });
    setTimeout(() => away.delete(ledger), 300);
    const done = await new Promise<string>((resolve) =>
      actor.subscribe((s) => s.status === 'done' && resolve(s.output.receipt.outcome)),
    );
    expect(done).toBe('cancelled');
  });
});
