/** The real executor with the real chart on the real Redis ledger; the server answers at once. */
import { consumeReady, Executor, type OperationLedger, type Policy } from '../../../machines/index.ts';
import { openLedger } from '../../../persistence/index.ts';
import { answering, ENDPOINT, FREE_RATE, NAMESPACE } from '../answering.ts';
import { ARGUMENTS, type Contender, type Setting, Waiting } from './contender.ts';

/** No wait that the policy could leave out, ms. */
export const AT_ONCE: Partial<Policy> = { pollIntervalMs: 0, minPollIntervalMs: 0, maxPollIntervalMs: 0, jitter: 0 };
/** The shortest wait that gives an operation back to the ledger between two polls, ms. */
export const WAITING: Partial<Policy> = { pollIntervalMs: 1, minPollIntervalMs: 1, maxPollIntervalMs: 1, jitter: 0 };

const CONSUMERS = 1;

export const ours =
  (policy: Partial<Policy>) =>
  async (setting: Setting): Promise<Contender> => {
    const ledger = await openLedger(setting.url, { namespace: NAMESPACE });
    const stop = new AbortController();
    const handled = new Map<string, () => void>();
    const acknowledged = new Waiting<void>();
    const failures: Error[] = [];
    const executor = await new Executor({
      ledger,
      namespace: NAMESPACE,
      protocols: [answering().protocol],
      policy,
      rate: FREE_RATE,
      concurrency: Math.max(256, setting.inFlight * 2),
      log: ({ level, event, detail }) => {
        if (level === 'error') failures.push(new Error(`${event}: ${JSON.stringify(detail)}`));
      },
    }).start();
    const consumers = Array.from({ length: CONSUMERS }, (_, nth) =>
      consumeReady(
        {
          ledger: tellingOfAcks(ledger, (operationId) => acknowledged.tell(operationId, undefined)),
          consumer: `bench-${nth}`,
          handle: async ({ receipt, output }) => {
            if (output?.kind !== 'result') throw new Error(`no result: ${receipt.outcome}`);
            handled.get(receipt.operationId)?.();
            handled.delete(receipt.operationId);
          },
          onError: (error) => failures.push(error),
        },
        stop.signal,
      ),
    );
    return {
      async job(name, delivered) {
        const call = { callNodeId: name, endpoint: ENDPOINT, tool: 'report', arguments: ARGUMENTS };
        const operationId = executor.operationIdOf(call);
        const done = acknowledged.until(operationId);
        handled.set(operationId, delivered);
        const answer = await executor.submit(call);
        if (answer.kind === 'refused') throw new Error(answer.reason);
        await done;
        if (failures[0]) throw failures[0];
      },
      async close() {
        stop.abort();
        await Promise.all(consumers);
        await executor.stop();
        await ledger.close();
      },
    };
  };

/** The same ledger, which says when a row was acknowledged. */
function tellingOfAcks(ledger: OperationLedger, acked: (operationId: string) => void): OperationLedger {
  return new Proxy(ledger, {
    get(target, name) {
      if (name === 'ackReady') {
        return async (...args: Parameters<OperationLedger['ackReady']>) => {
          const kept = await target.ackReady(...args);
          if (kept) acked(args[0].operationId);
          return kept;
        };
      }
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
