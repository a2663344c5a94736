/** The job on the embedded ledger, and how fast the exploration goes: what needs no Redis. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SETTINGS } from '../model/system/contracts.ts';
import { explore } from '../model/system/explore.ts';
import { System } from '../model/system/system.ts';
import { Child } from './child.ts';
import type { JobOrders } from './job/worker.ts';
import { sideBySide } from './side-by-side.ts';
import { median, percentile } from './statistics.ts';
import type { Bench, Measurement, SuiteResult } from './suite.ts';

const IN_FLIGHT = [1, 32] as const;

export async function embeddedSuite(bench: Bench): Promise<SuiteResult> {
  return {
    measurements: [...(await theJob(bench)), await explorationSpeed(bench)],
    notes: ['the file offers one level of syncing, FULL: each commit is on the disk before it is acknowledged'],
  };
}

async function theJob(bench: Bench): Promise<Measurement[]> {
  const worker = await Child.start<JobOrders>('./job/worker.ts');
  try {
    const names = IN_FLIGHT.map(String);
    const figures = await sideBySide(names, bench, async (name, run) => {
      bench.progress(`the job, ${name} in flight, run ${run} of ${bench.runs}`);
      const inFlight = Number(name);
      const ms = bench.quick ? 500 : 3_000;
      const directory = mkdtempSync(join(tmpdir(), 'toolop-bench-'));
      try {
        const setting = { url: join(directory, 'ledger.db'), inFlight, recordBytes: bench.floorBytes };
        const { jobs, seconds, latencies, cpuMs } = await worker.ask('run', { contender: 'ours', setting, ms });
        return {
          'jobs/s': jobs / seconds,
          'p50 ms': median(latencies),
          'p99 ms': percentile(latencies, 0.99),
          'client cpu ms/job': cpuMs / jobs,
        };
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    });
    return names.map((name) => ({
      what: `FULL, ${name} in flight`,
      who: 'ours, embedded',
      figures: figures[name] ?? {},
    }));
  } finally {
    await worker.kill();
  }
}

async function explorationSpeed(bench: Bench): Promise<Measurement> {
  const [setting] = SETTINGS;
  if (!setting) throw new Error('there is nothing to explore');
  const maxStates = bench.quick ? 5_000 : 60_000;
  const { explore: figures } = await sideBySide(['explore'], bench, async (_, run) => {
    bench.progress(`exploration, run ${run} of ${bench.runs}`);
    const { states, ms } = await explore(new System(setting.contract, setting.bounds), { maxStates });
    return { 'states/s': (states * 1_000) / ms };
  });
  return { what: `the first ${maxStates.toLocaleString('en')} of ${setting.contract.name}`, who: 'explore', figures };
}
