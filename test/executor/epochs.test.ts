import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../machines/index.ts';
import { accepted, eventually, LEDGERS, until, workCall } from '../support/rig.ts';
import { callsSeen, useStage } from '../support/stage.ts';

describe.each(LEDGERS)('execution epochs on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it('R3 F8: a newer epoch takes over what is in flight; the older executor claims nothing any more', async () => {
    const server = await stage().server();
    const logged: LogEntry[] = [];
    const old = await stage().rig.executor({ log: (entry) => logged.push(entry) });
    const id = await accepted(old, workCall(server.endpoint, { outcome: 'hold' }));
    await until(old, id, (state) => state === 'WORKING.polling');
    const epoch = await stage().ledger.raiseEpoch();
    const current = await stage().rig.executor({ endpoints: [server.endpoint] });
    await until(current, id, (_state, { snapshot }) => snapshot.context.executionEpoch === epoch);
    await eventually(async () => logged.some(({ detail }) => String(detail?.why).includes(`epoch ${epoch - 1}`)));
    await server.control({ op: 'complete', taskId: 'last' });
    const { receipt } = await current.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', executionEpoch: epoch });
    expect(await callsSeen(server)).toBe(1);
  });

  it('F8: an id that an older epoch brings late is verified by a request of the current one', async () => {
    const server = await stage().server();
    await server.control({ op: 'fault', kind: 'hold', method: 'tools/call' });
    const old = await stage().rig.executor({ requestTimeoutMs: 300 });
    const id = await accepted(old, workCall(server.endpoint, { ms: 20 }));
    await until(old, id, (state) => state === 'PARKED.waiting');
    // Sent ahead of its ledger: the old one goes on until it meets the record.
    const executionEpoch = (await stage().ledger.epoch()) + 1;
    const current = await stage().rig.executor({ executionEpoch, endpoints: [server.endpoint] });
    await current.env.store.apply(id, {
      type: 'epoch.adopt',
      at: current.env.time.now(),
      random: 0,
      executionEpoch,
    });
    await server.control({ op: 'release' });
    const { receipt } = await eventually(() => current.outcome(id), 15_000);
    expect(receipt).toMatchObject({ outcome: 'completed', executionEpoch });
    expect(await callsSeen(server)).toBe(1);
  });
});
