/** What one step of polling costs, where the status is unchanged: the step that a long wait consists of. */
import { Child } from './child.ts';
import type { ExecutorOrders, OpenOrder } from './executor.ts';
import { usageBetween } from './redis-usage.ts';
import { Server } from './server.ts';
import { sideBySide } from './side-by-side.ts';
import { total } from './statistics.ts';
import type { Bench, SuiteResult } from './suite.ts';

interface Way {
  readonly operations: number;
  readonly intervalMs: number;
}
/** The next poll follows at once, under the same lease; or the operation goes back to the ledger and is claimed again. */
const WAYS = {
  'lease kept': { operations: 32, intervalMs: 0 },
  'given back': { operations: 200, intervalMs: 1_000 },
} as const satisfies Record<string, Way>;
type WayName = keyof typeof WAYS;
const NAMES = Object.keys(WAYS) as WayName[];

export async function pollSuite(bench: Bench): Promise<SuiteResult> {
  const ms = bench.quick ? 1_000 : 4_000;
  const sent: Partial<Record<WayName, unknown>> = {};
  const figures = await sideBySide(NAMES, bench, async (name, run) => {
    bench.progress(`${name}, run ${run} of ${bench.runs}`);
    const { operations, intervalMs } = WAYS[name];
    const server = await Server.start('everysec');
    const executor = await Child.start<ExecutorOrders>('./executor.ts');
    try {
      await executor.ask('open', orderOf(server.url, intervalMs));
      await executor.ask('submit', { prefix: 'polled', count: operations, overMs: Math.max(intervalMs, 200) });
      const before = await server.usage();
      const { polls, sent: commands, cpuMs, ms: took } = await executor.ask('measure', { ms });
      const used = usageBetween(before, await server.usage());
      if (polls === 0) throw new Error('nothing was polled');
      sent[name] = Object.fromEntries(Object.entries(commands).map(([command, count]) => [command, count / polls]));
      return {
        'polls/s': (polls * 1_000) / took,
        'trips/poll': (total(commands) - (commands.publish ?? 0)) / polls,
        'commands/poll': total(used.calls) / polls,
        'B in/poll': used.bytesIn / polls,
        'B aof/poll': used.aofBytes / polls,
        'client cpu ms/poll': cpuMs / polls,
        'redis cpu ms/poll': used.cpuMs / polls,
      };
    } finally {
      await executor.kill();
      await server.stop();
    }
  });
  return {
    measurements: NAMES.map((name) => ({
      what: `${WAYS[name].operations} operations`,
      who: name,
      figures: figures[name],
      more: { sentPerPoll: sent[name] },
    })),
    notes: ['given back: polled once a second each; the looks at the ledger for what is due are in it'],
  };
}

const orderOf = (url: string, intervalMs: number): OpenOrder => ({
  url,
  policy: { pollIntervalMs: intervalMs, minPollIntervalMs: intervalMs, maxPollIntervalMs: intervalMs, jitter: 0 },
  pollIntervalMs: null,
});
