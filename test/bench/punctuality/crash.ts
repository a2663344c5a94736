/** How long an operation waits for another executor when its own is killed in the middle of a request. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationLedger } from '../../../machines/index.ts';
import { openLedger } from '../../../persistence/index.ts';
import { NAMESPACE } from '../answering.ts';
import { Child } from '../child.ts';
import type { ExecutorOrders } from '../executor.ts';
import { Server } from '../server.ts';

const LOOK_MS = 20;
const PATIENCE_MS = 60_000;

/**
 * From the kill to the step or the lease of another, ms, of each operation that the killed one held.
 * @param leaseMs of both executors: what the killed one held is nobody's before its end
 */
export async function crashRound(operations: number, leaseMs: number): Promise<number[]> {
  const server = await Server.start('everysec');
  const children: Child<ExecutorOrders>[] = [];
  try {
    const ledger = await openLedger(server.url, { namespace: NAMESPACE });
    try {
      const policy = { pollIntervalMs: 200, minPollIntervalMs: 200, maxPollIntervalMs: 200, jitter: 0 };
      const owners: string[] = [];
      for (let nth = 0; nth < 2; nth++) {
        const child = await Child.start<ExecutorOrders>('./executor.ts');
        children.push(child);
        // The server takes its time, so that a good part of all operations is held at any moment.
        owners.push(await child.ask('open', { url: server.url, policy, pollIntervalMs: null, statusMs: 300, leaseMs }));
      }
      const [victim] = children;
      if (!victim) throw new Error('nobody was started');
      const ids = await victim.ask('submit', { prefix: 'held', count: operations, overMs: 400 });
      await sleep(1_000);
      await victim.kill();
      const killedAt = performance.now();
      const held = await heldBy(ledger, ids, owners[0] as string);
      const times: number[] = [];
      while (held.size > 0) {
        for (const [id, revision] of [...held]) {
          const record = await ledger.load(id);
          if (record === null) throw new Error(`${id} is gone`);
          if (record.revision === revision && (record.lease === null || record.lease.owner === owners[0])) continue;
          held.delete(id);
          times.push(performance.now() - killedAt);
        }
        if (performance.now() - killedAt > PATIENCE_MS) throw new Error(`${held.size} were never taken over`);
        await sleep(LOOK_MS);
      }
      return times;
    } finally {
      await ledger.close();
    }
  } finally {
    await Promise.all(children.map((child) => child.kill()));
    await server.stop();
  }
}

/** The revisions of what an executor holds. */
async function heldBy(ledger: OperationLedger, ids: readonly string[], owner: string): Promise<Map<string, string>> {
  const held = new Map<string, string>();
  for (const record of await Promise.all(ids.map((id) => ledger.load(id))))
    if (record?.lease?.owner === owner) held.set(record.operationId, record.revision);
  return held;
}
