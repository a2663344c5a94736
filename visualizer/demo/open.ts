import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { type ApprovalPort, Executor, type OperationLedger } from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';

/** Short, so that the demo does not wait long for the lease of a dead executor, ms. */
const LEASE_MS = 2_000;
const NAMESPACE = 'demo';

/** An executor on the embedded ledger of the demo. */
export async function openDemo(
  ledgerPath: string,
  approval?: ApprovalPort,
): Promise<{ readonly ledger: OperationLedger; readonly executor: Executor }> {
  const ledger = await openLedger(ledgerPath, { namespace: NAMESPACE });
  const executor = new Executor({
    ledger,
    namespace: NAMESPACE,
    protocols: [mcp20251125()],
    leaseMs: LEASE_MS,
    ...(approval ? { approval } : {}),
  });
  await executor.start();
  return { ledger, executor };
}
