/** How late: a status read, a cancel, a takeover, a verdict. */
import { Child } from '../child.ts';
import type { ExecutorOrders } from '../executor.ts';
import { Server } from '../server.ts';
import { sideBySide } from '../side-by-side.ts';
import { median, percentile } from '../statistics.ts';
import type { Bench, Figures, Measurement, SuiteResult } from '../suite.ts';
import { crashRound } from './crash.ts';
import { unknownRound } from './unknown.ts';

const LEASE_MS = 3_000;

export async function punctualitySuite(bench: Bench): Promise<SuiteResult> {
  const operations = bench.quick ? 60 : 1_000;
  const intervalMs = bench.quick ? 500 : 5_000;
  return {
    measurements: [
      ...(await dueAndCancel(bench, operations, intervalMs)),
      await takeover(bench, bench.quick ? 30 : 200),
      await unknown(bench, operations),
    ],
    notes: [
      `due: from the time that the record says to the request, ${operations} operations read every ${intervalMs} ms each by one executor`,
      'cancel: from the call of cancel to the terminal evidence, under that load; the server answers at once',
      `takeover: from kill -9 to the step of the other executor, of what the killed one held; leases of ${LEASE_MS} ms, which end first`,
      'unknown: from the step that made the outcome unknown to the verdict, with the default policy; over HTTP, 1 % of the messages lost, the server can look calls up',
    ],
  };
}

const told = (values: readonly number[]) => ({ 'p50 ms': median(values), 'p99 ms': percentile(values, 0.99) });

async function dueAndCancel(bench: Bench, operations: number, intervalMs: number): Promise<Measurement[]> {
  const server = await Server.start('everysec');
  const executor = await Child.start<ExecutorOrders>('./executor.ts');
  try {
    const interval = { pollIntervalMs: intervalMs, minPollIntervalMs: intervalMs, maxPollIntervalMs: intervalMs };
    await executor.ask('open', { url: server.url, policy: { ...interval, jitter: 0 }, pollIntervalMs: null });
    await executor.ask('submit', { prefix: 'polled', count: operations, overMs: intervalMs });
    const cancels = Math.floor(operations / 20);
    const figures = await sideBySide(['due', 'cancel'], bench, async (name, run) => {
      bench.progress(`${name}, run ${run} of ${bench.runs}`);
      if (name === 'cancel') {
        const took = await executor.ask('cancel', { count: cancels, overMs: intervalMs / 2 });
        await executor.ask('submit', { prefix: `again-${run}`, count: cancels, overMs: intervalMs });
        return { ...told(took), 'longest ms': Math.max(...took) };
      }
      const { late, ms } = await executor.ask('measure', { ms: intervalMs * 2 });
      return { ...told(late), 'longest ms': Math.max(...late), 'polls/s': (late.length * 1_000) / ms };
    });
    return [
      { what: 'due to sent', who: 'ours', figures: figures.due },
      { what: 'cancel to evidence', who: 'ours', figures: figures.cancel },
    ];
  } finally {
    await executor.kill();
    await server.stop();
  }
}

async function takeover(bench: Bench, operations: number): Promise<Measurement> {
  const { takeover: figures } = await sideBySide(['takeover'], bench, async (_, run) => {
    bench.progress(`takeover, run ${run} of ${bench.runs}`);
    const times = await crashRound(operations, LEASE_MS);
    return { ...told(times), 'longest ms': Math.max(...times), 'how many': times.length };
  });
  return { what: 'crash to taken over', who: 'ours', figures };
}

/** Unknown outcomes are few in one run: the percentile is of all runs together. */
async function unknown(bench: Bench, operations: number): Promise<Measurement> {
  const all: number[] = [];
  const runs = await sideBySide(['unknown'], bench, async (_, run) => {
    const { times, open } = await unknownRound(bench, operations, run + 1);
    if (open > 0) throw new Error(`${open} operations came to no end`);
    if (run > 0) all.push(...times);
    return { 'how many': times.length };
  });
  const figures: Figures =
    all.length === 0
      ? runs.unknown
      : {
          ...Object.fromEntries(Object.entries(told(all)).map(([name, value]) => [name, [value]])),
          'longest ms': [Math.max(...all)],
          ...runs.unknown,
        };
  return { what: 'unknown to verdict', who: 'ours', figures, more: { times: all } };
}
