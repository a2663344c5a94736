/**
 * `npm run gates`: G1 to G6 on real parts (and, for G1, in simulation too), as a table. Exit code 1 when one fails. Progress
 * goes to stderr.
 */
import { Command, InvalidArgumentError } from 'commander';
import pc from 'picocolors';
import { readWay, type Way } from '../model/system/way.ts';
import { natural } from '../support/numbers.ts';
import { matrixText } from './g1/matrix.ts';
import { replay } from './g1/simulated.ts';
import { DEEP, FULL, GATES, type GateName, QUICK, type Verdict } from './gate.ts';
import { runGates } from './run.ts';

const gateNames = (text: string): readonly GateName[] =>
  text.split(',').map((word) => {
    const name = GATES.find((gate) => gate === word.trim().toUpperCase());
    if (name === undefined) throw new InvalidArgumentError(`the gates are ${GATES.join(', ')}.`);
    return name;
  });

const way = (text: string): Way => {
  const read = readWay(text);
  if (read === null) throw new InvalidArgumentError('a way is a seed, or a seed and where to turn off: 7 or 7@12.3.');
  return read;
};

const given = new Command('gates')
  .description('Runs the gates of the brief (G1 to G6) and prints what was run, the figure, the limit and the verdict.')
  .option('--only <gates>', 'some of them, comma-separated', gateNames, GATES)
  .option('--quick', 'small sizes, in seconds: what npm test runs')
  .option('--deep', 'ten times as many orderings on real parts')
  .option('--seed <n>', 'the first seed: draws the same ways, calls and faults again', natural, 1)
  .option(
    '--walk <way>',
    'only walks this simulated ordering (a seed: 7; one that turns off: 7@12.3), step by step',
    way,
  )
  .option('--matrix', 'how often each fault hit each state in the simulation of G1, after the table')
  .option('--json', 'one JSON document on stdout, in place of the table')
  .parse()
  .opts<{
    only: readonly GateName[];
    quick?: boolean;
    deep?: boolean;
    seed: number;
    walk?: Way;
    matrix?: boolean;
    json?: boolean;
  }>();

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The second time nobody waits for a clean end: what was started is killed by the exit handlers.
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  });
}

if (given.walk !== undefined) {
  const { steps, divergence } = await replay(given.walk).catch(notAWay);
  for (const step of steps) console.log(step);
  console.log(divergence === null ? 'it comes to its one end' : `diverged: ${divergence}`);
  process.exit(divergence === null ? 0 : 1);
}

const sizes = given.quick ? QUICK : given.deep ? DEEP : FULL;
try {
  const verdicts = await runGates(given.only, { sizes, seed: given.seed, signal: interrupt.signal, progress });
  clear();
  if (given.json) console.log(JSON.stringify({ seed: given.seed, gates: verdicts }, null, 2));
  else table(verdicts);
  process.exitCode = verdicts.every(({ pass }) => pass) ? 0 : 1;
} catch (error) {
  clear();
  if (!interrupt.signal.aborted) throw error;
  console.error('interrupted: everything was stopped, nothing was judged');
  process.exitCode = 130;
}
// Streams of killed children may still be open; nothing is left to be done.
process.exit();

function notAWay(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  console.error(`error: ${error.message}; a way is walked again only by the model that it was told by`);
  process.exit(2);
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else process.stderr.write(`${text}\n`);
}

function clear(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}

function table(verdicts: readonly Verdict[]): void {
  const rows = verdicts.map(({ gate, ran, count, figure, limit }) => [
    gate,
    ran,
    count.toLocaleString('en'),
    figure,
    limit,
  ]);
  const head = ['gate', 'what was run', 'how many', 'figure', 'limit'];
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ');
  console.log(`${line(head)}  verdict`);
  for (const [nth, row] of rows.entries())
    console.log(`${line(row)}  ${verdicts[nth]?.pass ? pc.green('pass') : pc.red('FAIL')}`);
  for (const { gate, notes, matrix, ms } of verdicts) {
    console.log(`\n${gate} (${(ms / 1_000).toFixed(0)} s)`);
    for (const note of notes) console.log(`  ${note}`);
    if (given.matrix && matrix) console.log(`\n${matrixText(matrix)}`);
  }
  const failed = verdicts.filter(({ pass }) => !pass).map(({ gate }) => gate);
  if (failed.length > 0) console.log(`\nAgain: npm run gates -- --only ${failed.join(',')} --seed ${given.seed}`);
}
