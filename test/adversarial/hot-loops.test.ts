import { describe, expect, it } from 'vitest';
import { openLedger } from '../../persistence/index.ts';
import { accepted, NAMESPACE, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('hot loops', () => {
  const stage = useStage('embedded');

  it('a result that the ledger cannot take does not make the executor fetch it without end', async () => {
    const server = await stage().server({ describe: 'large' });
    const ledger = await openLedger(stage().rig.address, { namespace: NAMESPACE, maxPayloadBytes: 4_000 });
    const log: string[] = [];
    const executor = await stage().rig.executor({
      ledger,
      log: (e) => {
        if (e.level === 'error') log.push(JSON.stringify(e));
      },
    });
    const id = await accepted(executor, workCall(server.endpoint, { variant: 'huge', bytes: 10_000 }));
    await until(executor, id, (state) => state === 'TERMINAL_OBSERVED.outcome');
    await until(executor, id, (state) => state.startsWith('PARKED'));
    const fetches = async () => (await server.log()).counts['tasks/result'] ?? 0;
    const before = await fetches();
    await pause(1_000);
    // Parked, it is asked for at the slow cadence.
    expect((await fetches()) - before).toBeLessThan(30);
    expect(log).toEqual([]);
  });

  it('a cancelled call is accepted although what it returned cannot be kept for the audit', async () => {
    const server = await stage().server({ describe: 'audit' });
    const ledger = await openLedger(stage().rig.address, { namespace: NAMESPACE, maxPayloadBytes: 4_000 });
    const executor = await stage().rig.executor({ ledger });
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    const result = { content: [{ type: 'text', text: 'x'.repeat(10_000) }] };
    await server.control({ op: 'fault', method: 'tasks/result', kind: 'answer', times: 100_000, result });
    await executor.cancel(id);
    await until(executor, id, (state) => state === 'CANCELLED_ACCEPTED');
  });
});
