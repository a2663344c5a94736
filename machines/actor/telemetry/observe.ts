/**
 * What is looked at when somebody collects, in place of being counted: the state of the ledger as a whole, at one step per
 * partition and collection however much it holds, and of this executor.
 */
import type { BatchObservableCallback } from '@opentelemetry/api';
import type { OperationLedger } from '../../operation-ledger.ts';
import { type GaugeName, instruments } from '../../telemetry/meter.ts';
import { type Log, wordsOf } from '../log.ts';

export interface Observed {
  readonly ledger: OperationLedger;
  readonly namespace: string;
  readonly log: Log;
  readonly qps: number;
  /** Operations in hand. */
  readonly driven: () => number;
}

const OF_LEDGER = [
  'toolop.unknown.oldest',
  'toolop.unknown.operations',
  'toolop.outbox.lag',
] as const satisfies readonly GaugeName[];
const OF_EXECUTOR = ['toolop.server.rate', 'toolop.operations.driven'] as const satisfies readonly GaugeName[];

/** Observes from now on, with whatever SDK is registered now. Answers the function that ends it. */
export function observe({ ledger, namespace, log, qps, driven }: Observed): () => void {
  const found = instruments();
  if (found === null) return () => undefined;
  const base = { 'toolop.namespace': namespace };
  const gauges = [...OF_LEDGER, ...OF_EXECUTOR].map((name) => found.gauge(name));
  const look: BatchObservableCallback = async (result) => {
    const say = (name: GaugeName, value: number, more = {}) =>
      result.observe(found.gauge(name), value, { ...base, ...more });
    say('toolop.server.rate', qps);
    say('toolop.operations.driven', driven());
    try {
      const { open, parked, readyAgeMs } = await ledger.vitals();
      for (const [kind, { count, oldestAgeMs }] of [['open', open] as const, ['parked', parked] as const]) {
        say('toolop.unknown.oldest', oldestAgeMs / 1_000, { 'toolop.unknown': kind });
        say('toolop.unknown.operations', count, { 'toolop.unknown': kind });
      }
      say('toolop.outbox.lag', readyAgeMs / 1_000);
    } catch (error) {
      // Nothing observed is the truth about a ledger that cannot be asked.
      log({ level: 'debug', event: 'vitals.failed', detail: { why: wordsOf(error) } });
    }
  };
  found.meter.addBatchObservableCallback(look, gauges);
  return () => found.meter.removeBatchObservableCallback(look, gauges);
}
