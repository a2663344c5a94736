/**
 * `npm run paths`: performs the shortest ways to every state, transition and pair of transitions of the closed system on
 * real parts, and says what of them was covered. Fails and names what is missing, what went another way, and what the
 * checker found.
 */
import { Command } from 'commander';
import pc from 'picocolors';
import { guardNames } from '../../machines/chart.ts';
import { count } from '../../support/numbers.ts';
import { startRedis } from '../../support/redis.ts';
import { type Count, Coverage } from './coverage.ts';
import { type Plan, readPlan, walkText, writePlan } from './plan-file.ts';
import { makePlan, planOf } from './planning.ts';
import { BUGS, type BugName, notice } from './planted.ts';
import { openServers } from './theatre.ts';
import { unreached } from './unreached.ts';
import { type Walked, walkAll } from './walks.ts';

const options = new Command('paths')
  .description('Performs the shortest ways to every state, transition and pair of transitions on real parts.')
  .option('--plan', 'compute the plan anew (needed when chart or model changed)')
  .option('--redis', 'on a Redis of its own; without: on a file each')
  .option(
    '--only <text>',
    'walks whose setting or one of whose transitions contains this text; nothing is called missing',
  )
  .option('--jobs <n>', 'walks at a time', count, 4)
  .option('--unreached', 'only lists the transitions that nothing in the closed system brings about, with why')
  .option('--planted', 'only plants bugs in the executors, one at a time, and says which walk notices each')
  .option('--json', 'one line of JSON')
  .parse()
  .opts<{
    plan?: boolean;
    unreached?: boolean;
    planted?: boolean;
    redis?: boolean;
    only?: string;
    jobs: number;
    json?: boolean;
  }>();

const began = performance.now();
const whole = options.plan ? await planAnew() : readPlan();
if (options.unreached) {
  for (const [why, names] of unreached(whole.transitions))
    console.log(`${pc.bold(`${why} (${names.length})`)}\n  ${names.join('\n  ')}`);
  process.exit(0);
}
const plan = options.only === undefined ? whole : await planOf(whole, options.only);
const redis = options.redis ? await startRedis({ appendonly: false }) : null;
const servers = await openServers(options.jobs);
const address = redis?.url ?? null;
const coverage = new Coverage();
const failed: Walked[] = [];
let done = 0;
try {
  if (options.planted) await plant();
  else await performAll();
} finally {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  await Promise.all(servers.map((server) => server.stop()));
  await redis?.stop();
}
if (!options.planted) report(plan, coverage.against(plan));

async function planAnew(): Promise<Plan> {
  const made = await makePlan((name, { worlds, transitions, pairs }) =>
    console.error(
      `${name.padEnd(18)} ${worlds} states of the system, ${transitions.size} transitions, ${pairs.size} pairs`,
    ),
  );
  writePlan(made);
  return made;
}

async function plant(): Promise<void> {
  for (const bug of Object.keys(BUGS) as BugName[]) {
    const [server] = servers;
    const noticed = server ? await notice(server, bug, plan.walks, address) : null;
    if (noticed === null) process.exitCode = 1;
    console.log(noticed ? `noticed: ${bug}\n  ${noticed.walk}: ${noticed.by}` : pc.red(`not noticed: ${bug}`));
  }
}

async function performAll(): Promise<void> {
  await walkAll(servers, plan.walks, { address }, (walked) => {
    coverage.add(walked);
    if (walked.divergence !== null || walked.violations.length > 0) failed.push(walked);
    done++;
    if (process.stderr.isTTY) process.stderr.write(`\r${done}/${plan.walks.length} walks, ${failed.length} failed `);
  });
}

function report({ walks }: Plan, counts: Readonly<Record<string, Count>>): void {
  const ms = Math.round(performance.now() - began);
  const why = failed.map(({ walk, divergence, violations }) => ({
    walk: walkText(walk),
    what: [divergence, ...violations].filter((text) => text !== null),
  }));
  const isMissing = options.only === undefined && Object.values(counts).some(({ missing }) => missing.length > 0);
  if (options.json) console.log(JSON.stringify({ ...counts, walks: walks.length, ms, failed: why }));
  else {
    for (const { walk, what } of why) console.log(`${pc.red('FAILED')} ${walk}\n  ${what.join('\n  ')}`);
    for (const [what, { missing }] of Object.entries(counts))
      for (const name of missing) console.log(`${pc.yellow('missing')} of ${what}: ${name}`);
    for (const [what, { seen, of }] of Object.entries(counts)) console.log(`${what.padEnd(18)} ${seen}/${of}`);
    for (const [why, names] of unreached(whole.transitions))
      console.log(`${names.length} transitions more are not in the closed system, ${why}`);
    for (const what of [true, false]) {
      const others = guardNames.filter((name) => !whole.guards.includes(`${name}: ${what}`));
      console.log(
        `${others.length} guards never say ${what} in the closed system; each does in test/machines/guards.test.ts`,
      );
    }
    console.log(`${walks.length} walks, ${failed.length} failed, ${Math.round(ms / 1_000)} s`);
  }
  if (isMissing || failed.length > 0) process.exitCode = 1;
}
