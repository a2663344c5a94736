/** The job, by everybody, on the same Redis, side by side. */
import { Child } from '../child.ts';
import { type Fsync, Server } from '../server.ts';
import { type RunFigures, sideBySide } from '../side-by-side.ts';
import { median, percentile, ratios, total } from '../statistics.ts';
import type { Bench, Measurement, SuiteResult } from '../suite.ts';
import { countSyncs } from '../syncs.ts';
import { type ContenderName, contenders } from './contenders.ts';
import type { Driven } from './drive.ts';
import type { JobOrders } from './worker.ts';

const NAMES = Object.keys(contenders) as ContenderName[];
const IN_FLIGHT = [1, 32, 256];
/** How long new jobs are begun in one run, ms. */
const RUN_MS = 2_500;
const QUICK_RUN_MS = 300;
/** How long new jobs are begun while the syncs are counted, ms. */
const COUNTED_MS = 1_000;

type Workers = Readonly<Record<ContenderName, Child<JobOrders>>>;

export async function jobSuite(bench: Bench): Promise<SuiteResult> {
  const measurements: Measurement[] = [];
  const notes = [
    `floor: six bare scripts a job, a record of ${bench.floorBytes} B with each step; no guards, fences, rate or history, and no safe repetition`,
    'bullmq: each step saved with updateData by one worker that goes on with it; the result through a results queue (add in the first processor, consumed by a second worker)',
    'ours: one executor and one consumer in one process on one ledger; the rate is asked for and never in the way',
    'waiting: between two polls the job is given back to the store for 1 ms (bullmq: moveToDelayed); otherwise the next poll follows at once',
    'trips: commands whose answer is waited for (all but PUBLISH), as sent by the client; commands: calls by INFO commandstats, those inside of scripts too',
  ];
  const workers = Object.fromEntries(
    await Promise.all(NAMES.map(async (name) => [name, await Child.start<JobOrders>('./job/worker.ts')] as const)),
  ) as Workers;
  try {
    for (const fsync of ['always', 'everysec'] as const) {
      const server = await Server.start(fsync);
      try {
        for (const inFlight of IN_FLIGHT)
          measurements.push(...(await measureAll(bench, workers, server, fsync, inFlight)));
      } finally {
        await server.stop();
      }
    }
  } finally {
    await Promise.all(Object.values(workers).map((worker) => worker.kill()));
  }
  return { measurements, notes };
}

async function measureAll(
  bench: Bench,
  workers: Workers,
  server: Server,
  fsync: Fsync,
  inFlight: number,
): Promise<Measurement[]> {
  const ms = bench.quick ? QUICK_RUN_MS : RUN_MS;
  const what = `${fsync}, ${inFlight} in flight`;
  const sent: Partial<Record<ContenderName, unknown>> = {};
  const order = (contender: ContenderName, forMs: number) => ({
    contender,
    setting: { url: server.url, inFlight, recordBytes: bench.floorBytes },
    ms: forMs,
  });
  const figures = await sideBySide(NAMES, bench, async (name, run) => {
    bench.progress(`${what}: ${name}, run ${run} of ${bench.runs}`);
    await server.empty();
    const driven = await workers[name].ask('run', order(name, ms));
    sent[name] = perJob(driven.sent, driven.jobs);
    return figuresOf(driven);
  });
  const syncs: Partial<Record<ContenderName, number | null>> = {};
  if (fsync === 'always' && inFlight === 1) {
    for (const name of NAMES) {
      await server.empty();
      let jobs = 0;
      const count = await countSyncs(server.process.pid, async () => {
        // One job warms up before those that are counted.
        jobs = 1 + (await workers[name].ask('run', order(name, COUNTED_MS))).jobs;
      });
      syncs[name] = count === null ? null : count / jobs;
    }
  }
  return NAMES.map((name) => {
    const own = figures[name];
    const rate = own['jobs/s'] ?? [];
    const synced = syncs[name];
    return {
      what,
      who: name,
      figures: {
        ...own,
        'of floor': ratios(rate, figures.floor['jobs/s'] ?? []),
        'of bullmq': ratios(rate, figures.bullmq['jobs/s'] ?? []),
        ...(synced === undefined || synced === null ? {} : { 'syncs/job': [synced] }),
      },
      more: { sentPerJob: sent[name] },
    };
  });
}

function figuresOf({ jobs, seconds, latencies, cpuMs, sent, used }: Driven): RunFigures {
  if (used === null) throw new Error('this suite measures a Redis');
  const published = sent.publish ?? 0;
  return {
    'jobs/s': jobs / seconds,
    'p50 ms': median(latencies),
    'p99 ms': percentile(latencies, 0.99),
    'trips/job': (total(sent) - published) / jobs,
    'publishes/job': published / jobs,
    'commands/job': total(used.calls) / jobs,
    'kB in/job': used.bytesIn / jobs / 1_000,
    'kB aof/job': used.aofBytes / jobs / 1_000,
    'client cpu ms/job': cpuMs / jobs,
    'redis cpu ms/job': used.cpuMs / jobs,
  };
}

const perJob = (sent: Readonly<Record<string, number>>, jobs: number): Record<string, number> =>
  Object.fromEntries(Object.entries(sent).map(([name, count]) => [name, Number((count / jobs).toFixed(3))]));
