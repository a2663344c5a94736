/**
 * `npm run bench`: what the engine costs and how fast it is, beside a hand-written floor and BullMQ on the same Redis. Tables
 * on stdout; every raw figure in a file. Progress goes to stderr.
 */
import { execFileSync } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { count } from '../support/numbers.ts';
import { type Bench, SUITES, type SuiteName, type SuiteResult } from './suite.ts';
import { suites } from './suites.ts';
import { tableOf } from './table.ts';

const suiteNames = (text: string): readonly SuiteName[] =>
  text.split(',').map((word) => {
    const name = SUITES.find((suite) => suite === word.trim());
    if (name === undefined) throw new InvalidArgumentError(`the suites are ${SUITES.join(', ')}.`);
    return name;
  });

const given = new Command('bench')
  .description(
    'Measures the engine, beside a hand-written floor and BullMQ on the same Redis where they do the same job.',
  )
  .option('--only <suites>', `some of ${SUITES.join(', ')}, comma-separated`, suiteNames, SUITES)
  .option('--quick', 'small sizes: to see that it runs, not for figures')
  .option('--runs <n>', 'runs that count, after one that is dropped', count, 5)
  .option('--floor-bytes <n>', "bytes of the floor's record: as many as one of ours has as JSON", count, 2_000)
  .option('--operations <n>', 'of the ledger that the page shows', count, 20_000)
  .option('--results <directory>', 'where the raw figures are kept', 'bench-results')
  .option('--json <file>', 'the file of the raw figures, in place of one named by the time')
  .parse()
  .opts<{
    only: readonly SuiteName[];
    quick?: boolean;
    runs: number;
    floorBytes: number;
    operations: number;
    results: string;
    json?: string;
  }>();

const interrupt = new AbortController();
// One signal for everything that waits: many listeners are meant.
setMaxListeners(0, interrupt.signal);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  });
}

const at = new Date();
const file = resolve(given.json ?? join(given.results, `${at.toISOString().replaceAll(':', '-')}.json`));
const results: Partial<Record<SuiteName, SuiteResult & { seconds: number; load: number[] }>> = {};
const bench = (name: SuiteName): Bench => ({
  quick: given.quick ?? false,
  runs: given.runs,
  floorBytes: given.floorBytes,
  operations: given.operations,
  signal: interrupt.signal,
  progress: (text) => progress(`${name}  ${text}`),
});
try {
  // Before anything is measured: whether the figures can be kept.
  keep();
  for (const name of given.only) {
    const began = performance.now();
    const result = await suites[name](bench(name));
    results[name] = { ...result, seconds: Math.round((performance.now() - began) / 1_000), load: loadavg() };
    keep();
    clear();
    console.log(`${name} (${results[name].seconds} s, medians of ${given.runs})\n${tableOf(result)}\n`);
  }
  console.log(`raw figures: ${file}`);
} catch (error) {
  clear();
  if (!interrupt.signal.aborted) throw error;
  console.error(`interrupted: what was measured until then is in ${file}`);
  process.exitCode = 130;
}
// Streams of killed children may still be open; nothing is left to be done.
process.exit();

/** After each suite: what was measured is not lost with the rest. */
function keep(): void {
  mkdirSync(resolve(file, '..'), { recursive: true });
  const machine = {
    node: process.version,
    redis: /v=(\S+)/.exec(execFileSync('redis-server', ['--version']).toString())?.[1],
    cpus: cpus().length,
    model: cpus()[0]?.model,
    memory: totalmem(),
  };
  const { runs, quick = false, floorBytes, operations } = given;
  writeFileSync(
    file,
    `${JSON.stringify({ at: at.toISOString(), machine, runs, quick, floorBytes, operations, results }, null, 1)}\n`,
  );
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else process.stderr.write(`${text}\n`);
}

function clear(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}
