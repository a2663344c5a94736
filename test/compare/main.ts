/**
 * `npm run compare`: the same scripted servers for this project and for its peers, and a table of what each told its caller
 * and what the server really did. Progress goes to stderr. Exit code 1 when we contradict a server or make a second
 * operation, or when somebody could not be run.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import pc from 'picocolors';
import { natural } from '../support/numbers.ts';
import { loadContenders } from './contenders/index.ts';
import { countsIn, markdown } from './markdown.ts';
import { type Row, runAll } from './run.ts';
import { SCRIPTS } from './scripts/index.ts';
import { countsOf, failuresOf } from './summary.ts';
import { terminalTable } from './table.ts';
import { writeBlock } from './write.ts';

const README = fileURLToPath(new URL('../../README.md', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/comparison.md', import.meta.url));

interface Given {
  readonly only?: string;
  readonly atOnce: number;
  readonly json?: boolean;
  readonly markdown?: string | true;
  readonly write?: boolean;
  readonly list?: boolean;
}

const given = new Command('compare')
  .description(
    'Drives the same scripted servers with this project and its peers, and compares what each told its caller.',
  )
  .option('--only <text>', 'only scripts with this in their name, or with this row of the brief (F4)')
  .option('--at-once <n>', 'how many runs at the same time', natural, 6)
  .option('--json', 'one JSON document on stdout, in place of the table')
  .option('--markdown [file]', 'the table as Markdown, on stdout or into a file')
  .option('--write', 'put the table between its marks in docs/comparison.md, and its counts in README.md')
  .option('--list', 'only say which scripts there are')
  .parse()
  .opts<Given>();

// Peers print warnings of their own about listeners and deprecations.
process.removeAllListeners('warning');

const scripts = SCRIPTS.filter(({ name, rows }) => given.only === undefined || fits(given.only, name, rows));
if (scripts.length === 0) {
  console.error(`error: no script fits ${JSON.stringify(given.only)}; --list shows all`);
  process.exit(2);
}
if (given.write && given.only !== undefined) {
  console.error('error: --write is for the whole table: leave --only out');
  process.exit(2);
}
if (given.list) {
  for (const { name, rows, protocols, source } of scripts) {
    console.log(
      `${rows.join(' ').padEnd(12)}  ${name}  ${pc.dim(`${protocols.join(', ')}${source ? `  ${source}` : ''}`)}`,
    );
  }
  process.exit(0);
}

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort(new Error('interrupted'));
  });
}

const loaded = await loadContenders();
for (const { name, why } of loaded.missing) console.error(pc.red(`${name} could not be loaded: ${why}`));
try {
  const rows = await runAll({
    scripts,
    contenders: loaded.contenders,
    atOnce: given.atOnce,
    signal: interrupt.signal,
    progress,
  });
  clear();
  print(rows);
  const failures = failuresOf(rows, loaded.missing);
  for (const failure of failures) console.error(pc.red(failure));
  process.exitCode = failures.length === 0 ? 0 : 1;
} catch (error) {
  clear();
  if (!interrupt.signal.aborted) throw error;
  console.error('interrupted: everything was stopped, nothing was judged');
  process.exitCode = 130;
} finally {
  await Promise.all(loaded.contenders.map((contender) => contender.stop()));
}
// Sockets that a peer keeps open would keep the process; nothing is left to be done.
process.exit();

function print(rows: readonly Row[]): void {
  const text = markdown(rows, loaded);
  if (given.write) {
    writeBlock(PAGE, text);
    writeBlock(README, countsIn(text));
  }
  if (typeof given.markdown === 'string') writeFileSync(given.markdown, `${text}\n`);
  if (given.json) console.log(JSON.stringify({ counts: countsOf(rows), rows: rows.map(jsonOf) }, null, 2));
  else if (given.markdown === true) console.log(text);
  else console.log(terminalTable(rows, loaded));
}

function jsonOf({ script: { name, rows, what, source }, protocol, cells }: Row): object {
  return { name, rows, what, source: source ?? null, protocol, cells };
}

function fits(text: string, name: string, rows: readonly string[]): boolean {
  return rows.includes(text.toUpperCase()) || name.toLowerCase().includes(text.toLowerCase());
}

function progress(done: number, of: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${done} of ${of} runs`);
  else if (done % 20 === 0 || done === of) process.stderr.write(`${done} of ${of} runs\n`);
}

function clear(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}
