/**
 * `npm run explore`: every reachable state of the closed system within bounds, breadth-first, with the production chart and
 * the production effects inside. Prints states, states per second and peak memory; a violation with its shortest trace.
 */
import { Command } from 'commander';
import pc from 'picocolors';
import { positive } from '../support/numbers.ts';
import { SETTINGS, type Setting } from './system/contracts.ts';
import { type Explored, explore, type Finding } from './system/explore.ts';
import { System } from './system/system.ts';
import { readyTest, sequenceDiagram } from './system/trace.ts';

const ENOUGH = 1_000_000;

const options = new Command('explore')
  .description('Explores every reachable state of record, executors, network, server, human and time, within bounds.')
  .option(
    '--only <names>',
    `settings by name, comma-separated: ${SETTINGS.map(({ contract }) => contract.name).join(', ')}`,
  )
  .option('--deep', 'one more fault of every kind, for as long as --minutes says')
  .option('--minutes <n>', 'how long a deep exploration goes on', positive, 30)
  .option('--max <states>', 'states per setting at the most', positive)
  .option('--json', 'one line of JSON per setting')
  .parse()
  .opts<{ only?: string; deep?: boolean; minutes: number; max?: number; json?: boolean }>();

const names = options.only?.split(',');
const unknown = names?.find((name) => !SETTINGS.some(({ contract }) => contract.name === name));
if (unknown !== undefined) {
  console.error(`there is no setting ${unknown}; see --help`);
  process.exit(2);
}
const chosen = SETTINGS.filter(({ contract }) => names === undefined || names.includes(contract.name));
const deadline = performance.now() + options.minutes * 60_000;
const maxStates = options.max ?? (options.deep ? 200_000_000 : 3_000_000);
let total = 0;
let ms = 0;
let peak = 0;
let violated = false;
let cutOff = 0;

for (const setting of chosen) {
  const bounds = options.deep ? deeper(setting).bounds : setting.bounds;
  const system = new System(setting.contract, bounds);
  const explored = await explore(system, {
    maxStates,
    ...(options.deep ? { deadline } : {}),
    onProgress: (states, depth) => {
      peak = Math.max(peak, process.memoryUsage().rss);
      if (process.stderr.isTTY) process.stderr.write(`\r${setting.contract.name}: ${states} states, depth ${depth} `);
    },
  });
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  total += explored.states;
  ms += explored.ms;
  if (!explored.complete) cutOff++;
  report(setting, system, explored);
}

const rate = Math.round((total / ms) * 1_000);
const summary = {
  states: total,
  seconds: Math.round(ms / 1_000),
  statesPerSecond: rate,
  peakMiB: Math.round(peak / 2 ** 20),
};
if (options.json) console.log(JSON.stringify({ summary, violated, cutOff }));
else
  console.log(
    `${total.toLocaleString('en')} distinct states in ${summary.seconds} s (${rate.toLocaleString('en')}/s), peak memory ${summary.peakMiB} MiB${cutOff > 0 ? `, ${cutOff} settings cut off at their limit` : ', all bounds exhausted'}`,
  );
if (!violated && names === undefined && options.max === undefined && total < ENOUGH) {
  console.error(`too few: the default bounds are meant to reach ${ENOUGH.toLocaleString('en')} states`);
  process.exitCode = 1;
}
if (violated) process.exitCode = 1;

function deeper({ contract, bounds }: Setting): Setting {
  const more = Object.entries(bounds).map(([kind, count]) => [kind, count + (kind === 'lies' && count === 0 ? 0 : 1)]);
  return { contract, bounds: Object.fromEntries(more) as Setting['bounds'] };
}

function report(setting: Setting, system: System, explored: Explored): void {
  const { states, edges, depth, complete, findings } = explored;
  const { name, about } = setting.contract;
  if (options.json)
    console.log(JSON.stringify({ name, states, edges, depth, complete, findings: findings.map(({ what }) => what) }));
  else {
    const verdict = findings.length > 0 ? pc.red('VIOLATED') : complete ? pc.green('holds') : pc.yellow('holds so far');
    console.log(`${name.padEnd(18)} ${states.toLocaleString('en').padStart(11)} states  ${verdict}  ${about}`);
  }
  for (const finding of findings.slice(0, 1)) show(setting, system, explored, finding);
}

function show(setting: Setting, system: System, explored: Explored, { what, state, step }: Finding): void {
  violated = true;
  const trace = [...explored.trace(state), ...(step ? [{ label: step.label, world: step.next }] : [])];
  console.log(`\n${what}\n\n${sequenceDiagram(system, trace, what)}\n\n${readyTest(setting, trace, what)}\n`);
}
