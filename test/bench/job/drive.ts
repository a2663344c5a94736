import { type RedisUsage, usageBetween } from '../redis-usage.ts';
import type { Sent } from '../sent.ts';
import type { Contender } from './contender.ts';

export interface Driven {
  readonly jobs: number;
  readonly seconds: number;
  /** From the creation to the consumer, ms, one per job. */
  readonly latencies: readonly number[];
  /** CPU of this process, ms. */
  readonly cpuMs: number;
  /** Commands sent, by name. */
  readonly sent: Readonly<Record<string, number>>;
  /** What the store did meanwhile; `null` where it is no Redis. */
  readonly used: RedisUsage | null;
}

export interface DriveOptions {
  readonly inFlight: number;
  /** New jobs are begun for so long; those under way are waited for. */
  readonly ms: number;
  readonly sent: Sent;
  readonly usage?: () => Promise<RedisUsage>;
}

/** A job that takes longer never ends, ms. */
const STALLED_MS = 120_000;

/** Does one job after the other in each of `inFlight` lines: the next begins when one was acknowledged. */
export async function drive(contender: Contender, { inFlight, ms, sent, usage }: DriveOptions): Promise<Driven> {
  const latencies: number[] = [];
  let jobs = 0;
  let stalled: NodeJS.Timeout | undefined;
  const one = async (name: string) => {
    const began = performance.now();
    await contender.job(name, () => latencies.push(performance.now() - began));
    stalled?.refresh();
  };
  // Connections, scripts and idle loops are there before the clock runs.
  await one('first');
  latencies.length = 0;
  const before = await usage?.();
  sent.reset();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const line = async () => {
    do await one(`job-${jobs++}`);
    while (performance.now() - start < ms);
  };
  const never = new Promise<never>((_, reject) => {
    stalled = setTimeout(() => reject(new Error(`no job ended in ${STALLED_MS / 1_000} s`)), STALLED_MS);
  });
  try {
    await Promise.race([Promise.all(Array.from({ length: inFlight }, line)), never]);
  } finally {
    clearTimeout(stalled);
  }
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const commands = Object.fromEntries(sent.counts);
  const after = await usage?.();
  return {
    jobs,
    seconds,
    latencies,
    cpuMs: (user + system) / 1_000,
    sent: commands,
    used: before && after ? usageBetween(before, after) : null,
  };
}
