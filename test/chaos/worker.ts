/**
 * An executor with a consumer of ready rows, as a process that is killed and stopped at any moment. Takes orders as
 * JSON lines on stdin; ends with its input, so that nothing is left when the chaos program dies.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { consumeReady, Executor, LedgerUnavailable, type OperationLedger } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { openLedger } from '../../persistence/index.ts';
import { type Answer, LEASE_MS, type Order, POLICY, type WorkerLine, type WorkerOrders } from './protocol.ts';

const orders = JSON.parse(process.argv[2] ?? '{}') as WorkerOrders;
const say = (line: WorkerLine) => writeWhole(Buffer.from(`${JSON.stringify(line)}\n`));
process.stdin.on('end', () => process.exit(0));

const { namespace, historyFile } = orders;
const ledger = await insist(() =>
  openLedger(orders.ledger, { namespace, ...(historyFile === null ? {} : { historyFile }) }),
);
const executor = new Executor({
  ledger,
  namespace,
  protocols: [mcp20251125()],
  endpoints: orders.urls.map((url) => ({ kind: 'http', url })),
  policy: POLICY,
  leaseMs: LEASE_MS,
  requestTimeoutMs: 2_500,
  processTimeoutMs: 3_000,
  graceMs: 500,
  rate: { qps: 500, burst: 500 },
  approval: {
    // An answer says which question it is meant for.
    ask: async ({ request }) => ({ action: 'accept', content: { word: request.message } }),
  },
});
executor.env.store.onCommit(({ record, snapshot }) =>
  say({ line: 'state', operationId: record.operationId, state: statePath(snapshot) }),
);
await insist(() => executor.start());
void consumeReady(
  {
    ledger: watched(ledger),
    consumer: orders.name,
    leaseMs: 2_000,
    idleMs: 500,
    handle: async (outcome) => {
      say({ line: 'delivery', operationId: outcome.receipt.operationId, outcome });
    },
  },
  new AbortController().signal,
);
say({ line: 'ready' });

for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...order } = JSON.parse(line) as Order & { id: number };
  void obey(order).then(
    (answer) => say({ line: 'answer', id, answer }),
    (error: Error) => say({ line: 'answer', id, answer: { kind: 'error', reason: error.message } }),
  );
}

async function obey({ op, call }: Order): Promise<Answer> {
  if (op === 'submit') return executor.submit(call);
  const operationId = executor.operationIdOf(call);
  if (op === 'outcome') return { kind: (await executor.outcome(operationId)) === null ? 'open' : 'over' };
  const answer = await executor.cancel(operationId, orders.name);
  return { kind: answer.kind, ...('reason' in answer ? { reason: answer.reason } : {}) };
}

/** The ledger may be down just now: a supervisor would start the process again. */
async function insist<T>(what: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await what();
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      await sleep(200);
    }
  }
}

/** The same ledger, which also says which acknowledgements were taken. */
function watched(target: OperationLedger): OperationLedger {
  const ackReady: OperationLedger['ackReady'] = async (row, consumer) => {
    const taken = await target.ackReady(row, consumer);
    if (taken) say({ line: 'acknowledged', operationId: row.operationId });
    return taken;
  };
  return new Proxy(target, {
    get(_, name) {
      if (name === 'ackReady') return ackReady;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Synchronously, so that a process which is killed right afterwards has said it; a full pipe is waited for. */
function writeWhole(bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
