/** One waiting operation to write others after. */
import { Child } from '../child.ts';
import type { ExecutorOrders } from '../executor.ts';

/** How long nothing becomes due, ms. */
export const FAR_MS = 6 * 3_600_000;

/** Answers its id. `url`: of the ledger. */
export async function writtenByAnExecutor(url: string): Promise<string> {
  const executor = await Child.start<ExecutorOrders>('./executor.ts');
  try {
    await executor.ask('open', { url, policy: { maxPollIntervalMs: FAR_MS }, pollIntervalMs: FAR_MS });
    const [operationId] = await executor.ask('submit', { prefix: 'sample-node', count: 1, overMs: 0 });
    if (operationId === undefined) throw new Error('the executor wrote nothing');
    await executor.ask('close', {});
    return operationId;
  } finally {
    await executor.kill();
  }
}
