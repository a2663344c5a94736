/** Feeds a target with inputs, batch by batch, each under a seed of its own, and checks what must hold after each. */
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { assertUnpolluted } from './checks.ts';
import { escaped } from './dirt.ts';
import type { OpenTarget, Target, Verdict } from './target.ts';

/** Longer than any input may take; a shared machine may stall, so one that was slow is tried a second time, ms. */
const SLOW_MS = 5_000;
const HANG_MS = 20_000;

export interface RunOptions {
  readonly seed: number;
  readonly inputs: number;
  /** `performance.now()` at which to stop. */
  readonly deadline?: number;
  /** Only this batch, from this place in it: to see one failure again. */
  readonly batch?: number;
  readonly path?: string;
  readonly maxRssBytes: number;
  readonly beat?: (batch: number, input: number) => void;
}

export interface Failure {
  readonly target: string;
  readonly batch: number;
  readonly path: string | null;
  readonly what: string;
  readonly input: string;
}

export interface Row {
  readonly target: string;
  readonly inputs: number;
  readonly accepted: number;
  readonly refused: number;
  readonly worstMs: number;
  readonly ms: number;
  readonly peakRssBytes: number;
  readonly failure: Failure | null;
}

/** What nobody caught, since it was last looked at. */
const strays: unknown[] = [];
const note = (error: unknown): void => void strays.push(error);

/** Takes what nobody catches as a failure of the input under way; gives the process back afterwards. */
export async function catchingStrays<T>(work: () => Promise<T>): Promise<T> {
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  try {
    return await work();
  } finally {
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
  }
}

export async function runTarget(target: Target, options: RunOptions): Promise<Row> {
  const opened = await target.open();
  const size = target.batch ?? 2_000;
  const lanes = options.batch === undefined ? (target.lanes ?? 1) : 1;
  const counts = { accepted: 0, refused: 0, worstMs: 0, peakRss: 0 };
  const began = performance.now();
  let next = 0;
  let failure: Failure | null = null;
  const over = (): boolean => failure !== null || performance.now() > (options.deadline ?? Number.POSITIVE_INFINITY);

  const lane = async (): Promise<void> => {
    while (!over()) {
      const batch = options.batch ?? next++;
      const left = options.batch === undefined ? options.inputs - batch * size : size;
      if (left <= 0) return;
      failure ??= await runBatch(target, opened, batch, Math.min(size, left), options, counts);
      counts.peakRss = Math.max(counts.peakRss, process.memoryUsage().rss);
      if (counts.peakRss > options.maxRssBytes) {
        const what = `memory: ${Math.round(counts.peakRss / 2 ** 20)} MiB are in use after this batch`;
        failure ??= { target: target.name, batch, path: null, what, input: '(the whole batch)' };
      }
      if (options.batch !== undefined) return;
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } finally {
    await opened.close?.();
  }
  const { accepted, refused, worstMs, peakRss } = counts;
  const ms = performance.now() - began;
  return {
    target: target.name,
    inputs: accepted + refused,
    accepted,
    refused,
    worstMs,
    ms,
    peakRssBytes: peakRss,
    failure,
  };
}

interface Counts {
  accepted: number;
  refused: number;
  worstMs: number;
}

async function runBatch(
  target: Target,
  opened: OpenTarget<unknown>,
  batch: number,
  numRuns: number,
  options: RunOptions,
  counts: Counts,
): Promise<Failure | null> {
  let input = 0;
  const check = fc.asyncProperty(opened.inputs, async (value) => {
    options.beat?.(batch, input++);
    const { verdict, ms } = await timed(opened, value);
    if (ms > SLOW_MS) {
      const again = await timed(opened, value);
      if (again.ms > SLOW_MS) throw new Error(`it took ${Math.round(ms)} ms, and ${Math.round(again.ms)} ms again`);
    } else counts.worstMs = Math.max(counts.worstMs, ms);
    assertUnpolluted();
    if (strays.length > 0) throw new Error(`nobody caught: ${wordsOf(strays.splice(0)[0])}`);
    counts[verdict]++;
  });
  const details = await fc.check(check, {
    numRuns,
    seed: seedOf(options.seed, target.name, batch),
    endOnFailure: false,
    ...(options.path === undefined ? {} : { path: options.path }),
    // A failure of a thousand steps is no shorter to read than one of a hundred.
    interruptAfterTimeLimit: 120_000,
    markInterruptAsFailure: false,
  });
  strays.length = 0;
  if (!details.failed) return null;
  return {
    target: target.name,
    batch,
    path: details.counterexamplePath,
    what: wordsOf(details.errorInstance),
    input: escaped(details.counterexample?.[0]),
  };
}

async function timed(opened: OpenTarget<unknown>, value: unknown): Promise<{ verdict: Verdict; ms: number }> {
  const began = performance.now();
  const answer = opened.feed(value);
  if (typeof answer === 'string') return { verdict: answer, ms: performance.now() - began };
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${HANG_MS} ms`)), HANG_MS);
  });
  try {
    const verdict = await Promise.race([answer, hang]);
    const ms = performance.now() - began;
    // Rejections that nobody handles are told of only after a turn.
    await turn();
    return { verdict, ms };
  } finally {
    clearTimeout(timer);
  }
}

/** The same seed, target and batch are always the same inputs. */
function seedOf(seed: number, name: string, batch: number): number {
  let hash = 0x811c9dc5;
  for (const character of `${seed}/${name}/${batch}`) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash | 0;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : escaped(error);
}
