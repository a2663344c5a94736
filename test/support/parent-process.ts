/**
 * A parent machine as a process of its own. Reads its orders as JSON from the command line; prints one JSON line per
 * news. Without `persisted` it starts anew, prints its persisted snapshot once both operations wait for their server,
 * and stops; with it, it restores the snapshot and runs to its end.
 */
import { writeSync } from 'node:fs';
import { createActor, type Snapshot, waitFor } from 'xstate';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { createOperationLogic, Executor, type Policy } from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import { type ParentContext, parentMachine } from './parent-machine.ts';

export interface ParentOrders {
  readonly ledger: string;
  readonly namespace: string;
  readonly policy: Partial<Policy>;
  readonly calls: ParentContext['calls'];
  readonly persisted?: unknown;
}

const say = (line: unknown) => writeSync(1, `${JSON.stringify(line)}\n`);
const orders = JSON.parse(process.argv[2] ?? '{}') as ParentOrders;

const ledger = await openLedger(orders.ledger, { namespace: orders.namespace });
const executor = await new Executor({
  ledger,
  namespace: orders.namespace,
  protocols: [mcp20251125()],
  endpoints: [orders.calls.one.endpoint, orders.calls.two.endpoint],
  policy: orders.policy,
  leaseMs: 1_500,
}).start();
const machine = parentMachine(createOperationLogic({ executor }), (news) => say({ news }));
const actor = orders.persisted
  ? createActor(machine, { input: orders.calls, snapshot: orders.persisted as Snapshot<unknown> })
  : createActor(machine, { input: orders.calls });
actor.start();
if (!orders.persisted) {
  const waits = async (call: ParentContext['calls']['one']) => {
    for await (const { snapshot } of executor.follow(executor.operationIdOf(call))) {
      if (snapshot.context.taskId !== null) return;
    }
  };
  // The handles submit first: a follower needs a record.
  while (!(await executor.load(executor.operationIdOf(orders.calls.one)))) await executor.env.clock.sleep(20);
  while (!(await executor.load(executor.operationIdOf(orders.calls.two)))) await executor.env.clock.sleep(20);
  await Promise.all([waits(orders.calls.one), waits(orders.calls.two)]);
  say({ persisted: actor.getPersistedSnapshot() });
} else {
  const over = await waitFor(actor, (snapshot) => snapshot.status !== 'active');
  say({ over: over.context.done });
}
actor.stop();
await executor.stop();
await ledger.close();
say({ stopped: true });
