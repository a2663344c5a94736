/**
 * `npm run fuzz`: bad input for everything that an adapter, the CLI and the ledger read. Ends with a table, and with 1 when
 * an input did what none may do: throw where nobody expects it, hang, take unbounded memory, pollute a prototype, or
 * change a record in a way that the chart does not allow.
 */
import { Command } from 'commander';
import { natural, positive } from '../support/numbers.ts';
import { catchingStrays, type Failure, type Row, runTarget } from './run.ts';
import { TARGETS } from './targets/index.ts';
import { startWatchdog } from './watchdog.ts';

const options = new Command('fuzz')
  .description('Property-based and mutation fuzzing of everything that comes from outside.')
  .option('--inputs <n>', 'how many inputs over all targets', positive, 1_000_000)
  .option('--seed <n>', 'the same seed makes the same inputs', natural, 1)
  .option('--minutes <n>', 'stop after this time at the latest', positive)
  .option('--only <target>', `one target, all inputs for it: ${TARGETS.map(({ name }) => name).join(', ')}`)
  .option('--batch <n>', 'with --only: one batch of it, to see a failure again', natural)
  .option('--path <path>', 'with --batch: the place of the failure in it')
  .option('--max-rss <mib>', 'the memory that the run may use, MiB', positive, 2_048)
  .option('--json', 'one JSON document')
  .parse()
  .opts<{
    inputs: number;
    seed: number;
    minutes?: number;
    only?: string;
    batch?: number;
    path?: string;
    maxRss: number;
    json?: boolean;
  }>();

const chosen = TARGETS.filter(({ name }) => options.only === undefined || name === options.only);
if (chosen.length === 0) {
  console.error(`there is no target ${options.only}; see --help`);
  process.exit(2);
}
const names = TARGETS.map(({ name }) => name);
const shares = chosen.reduce((sum, { share }) => sum + share, 0);
const began = performance.now();
const deadline = options.minutes === undefined ? undefined : began + options.minutes * 60_000;
const watchdog = startWatchdog(names, options.seed, 60_000);
const rows: Row[] = [];
if (!options.json) line(['target', 'inputs', 'accepted', 'refused', 'worst ms', 'seconds', 'peak MiB']);
await catchingStrays(async () => {
  for (const target of chosen) {
    const place = names.indexOf(target.name);
    const row = await runTarget(target, {
      seed: options.seed,
      inputs: Math.ceil((options.inputs * target.share) / shares),
      maxRssBytes: options.maxRss * 2 ** 20,
      beat: (batch, input) => watchdog.beat(place, batch, input),
      ...(deadline === undefined ? {} : { deadline }),
      ...(options.batch === undefined ? {} : { batch: options.batch }),
      ...(options.path === undefined ? {} : { path: options.path }),
    });
    watchdog.rest();
    rows.push(row);
    if (!options.json) tell(row);
  }
});
await watchdog.stop();

const failures = rows.flatMap(({ failure }) => failure ?? []);
const inputs = rows.reduce((sum, row) => sum + row.inputs, 0);
const peak = Math.max(...rows.map(({ peakRssBytes }) => peakRssBytes));
if (options.json) console.log(JSON.stringify({ seed: options.seed, inputs, rows, failures }, null, 2));
else {
  const seconds = Math.round((performance.now() - began) / 1_000);
  const bound = `${mib(peak)} MiB of memory at the most (bound: ${options.maxRss})`;
  console.log(
    `\n${inputs.toLocaleString('en')} inputs in ${seconds} s, seed ${options.seed}; ${bound}; failures: ${failures.length}`,
  );
}
process.exit(failures.length > 0 ? 1 : 0);

function tell(row: Row): void {
  line([
    row.target,
    ...[row.inputs, row.accepted, row.refused].map((n) => n.toLocaleString('en')),
    row.worstMs.toFixed(0),
    (row.ms / 1_000).toFixed(1),
    mib(row.peakRssBytes),
  ]);
  if (row.failure) explain(row.failure);
}

function explain({ target, batch, path, what, input }: Failure): void {
  const place = path === null ? '' : ` --path ${path}`;
  console.log(
    `\nFAILED ${target}: ${what}\n  input: ${input}\n  again: npm run fuzz -- --seed ${options.seed} --only ${target} --batch ${batch}${place}\n`,
  );
}

function line([name = '', ...numbers]: readonly string[]): void {
  console.log(`${name.padEnd(16)}${numbers.map((text) => text.padStart(11)).join('')}`);
}

function mib(bytes: number): string {
  return String(Math.round(bytes / 2 ** 20));
}
