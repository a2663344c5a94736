/**
 * `npm run chaos`: executors and Redis as real processes under load, killed and stopped at random; afterwards the whole
 * history is judged by the independent checker and by the ledger's own audit. Exit code 1 when anything is wrong.
 */
import { Command, Option } from 'commander';
import type { CallHistory } from '../kit/checker.ts';
import { count, natural, positive } from '../support/numbers.ts';
import { type ChaosOptions, type ChaosOutcome, type Progress, runChaos } from './run.ts';

const program = new Command('chaos')
  .description('Kills and stops executors and Redis at random, under load; then judges every operation by the brief.')
  .option('--seconds <n>', 'length of the storm', count, 600)
  .option('--seed <n>', 'chooses the calls and what is done to whom (default: from the clock)', natural)
  .option('--executors <n>', 'executor processes', count, 3)
  .option('--kill <n>', 'kills so many executors at once, in rounds (default: one now and then)', natural)
  .option('--pause <n>', 'stops so many others at once, in the same rounds, until their leases have ended', natural)
  .option('--every <seconds>', 'length of such a round', positive, 4)
  .option(
    '--ledger <address>',
    'what the executors share: `redis` or `embedded`, started for this and hurt too; `cluster`, three masters with a replica ' +
      'each, started for this; or an address (redis://...)',
    'redis',
  )
  .option(
    '--failover [command]',
    'once, in the middle: a master of the cluster loses its replica, and dies; elsewhere a shell command that makes a failover',
  )
  .addOption(new Option('--servers <n>', 'MCP servers: the second one has no look-up').choices(['1', '2']).default('2'))
  .option('--rate <n>', 'new calls per second (default: 5, with the embedded ledger 2)', count)
  .option(
    '--settle <n>',
    'seconds without progress after which, once all is healed, something counts as stuck',
    count,
    60,
  )
  .option('--json', 'one JSON document on stdout at the end, in place of lines and table')
  .parse();

const given = program.opts<{
  seconds: number;
  seed?: number;
  executors: number;
  kill?: number;
  pause?: number;
  every: number;
  ledger: string;
  failover?: string | true;
  servers: string;
  rate?: number;
  settle: number;
  json?: boolean;
}>();
const options: ChaosOptions = {
  seconds: given.seconds,
  seed: given.seed ?? Date.now() % 1_000_000,
  executors: given.executors,
  servers: Number(given.servers),
  ledger: given.ledger,
  rounds:
    given.kill === undefined && given.pause === undefined
      ? null
      : { kill: given.kill ?? 0, pause: given.pause ?? 0, everyMs: given.every * 1_000 },
  failover: failoverOf(given.failover, given.ledger),
  rate: given.rate ?? (given.ledger === 'embedded' ? 2 : 5),
  settleSeconds: given.settle,
};

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The second time nobody waits for a clean end: what was started is killed by the exit handlers.
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  });
}

try {
  if (!given.json) console.log(`chaos: ${words(options)}`);
  const outcome = await runChaos(options, given.json ? () => undefined : line, interrupt.signal);
  if (given.json) console.log(JSON.stringify({ options, ...summary(outcome), evidence: evidenceOf(outcome) }, null, 2));
  else table(outcome);
  process.exitCode = outcome.violations.length > 0 ? 1 : 0;
} catch (error) {
  if (!interrupt.signal.aborted) throw error;
  console.error('interrupted: everything was stopped, nothing was judged');
  process.exitCode = 130;
}
// Streams of killed children may still be open; nothing is left to be done.
process.exit();

function failoverOf(wish: string | true | undefined, ledger: string): ChaosOptions['failover'] {
  if (wish === undefined) return null;
  const ofItsOwn = ledger === 'cluster';
  if (wish === true && ofItsOwn) return 'own';
  if (wish !== true && !ofItsOwn) return { command: wish };
  return program.error(
    'error: --failover takes a command, except with --ledger cluster, which has a failover of its own',
  );
}

function words({ seconds, seed, executors, servers, ledger, rate, rounds, failover }: ChaosOptions): string {
  const inRounds = rounds
    ? `, every ${rounds.everyMs / 1_000} s ${rounds.kill} killed and ${rounds.pause} stopped`
    : '';
  return `${seconds} s, seed ${seed}, ${executors} executors${inRounds}, ${servers} servers, ${ledger} ledger${failover ? ' with a failover' : ''}, ${rate} calls/s`;
}

function line({ phase, elapsedMs, made, accepted, over, parked, restless, deeds }: Progress): void {
  const time = `${String(Math.round(elapsedMs / 1_000)).padStart(4)} s`;
  const rest = restless === null ? '' : `, not at rest ${restless}`;
  const done =
    `executors killed ${deeds.executorKills}, stopped ${deeds.executorStops}; ` +
    `redis killed ${deeds.redisKills}, stopped ${deeds.redisStops}; ` +
    `server faults ${deeds.serverFaults}, stops ${deeds.serverStops}`;
  console.log(`${time}  ${phase}: calls ${accepted}/${made}, over ${over}, parked ${parked}${rest}; ${done}`);
}

function summary(outcome: ChaosOutcome) {
  const { made, operations, cancels, receipts, parked, deeds, forgotten, settledInMs, violations } = outcome;
  return { made, operations, cancels, receipts, parked, deeds, forgotten, settledInMs, violations };
}

/** Of each call node that a violation names: everything that was recorded. */
function evidenceOf({ violations, history }: ChaosOutcome): CallHistory[] {
  const named = new Set(violations.map(({ callNode }) => callNode));
  return history.calls.filter(({ callNode }) => named.has(callNode));
}

function table(outcome: ChaosOutcome): void {
  const { deeds } = outcome;
  const rows: (readonly [string, string | number])[] = [
    ['operations', `${outcome.operations} (calls made: ${outcome.made}, cancels asked: ${outcome.cancels})`],
    ['executors killed / stopped', `${deeds.executorKills} / ${deeds.executorStops}`],
    ['redis restarted / stopped', `${deeds.redisKills} / ${deeds.redisStops}`],
    ['server faults / stops', `${deeds.serverFaults} / ${deeds.serverStops}`],
    ['forgotten, acknowledged', `${outcome.forgotten.steps} steps in ${outcome.forgotten.partitions} partitions`],
    ['receipts', listed(outcome.receipts)],
    ['parked', listed(outcome.parked)],
    ['at rest after', `${(outcome.settledInMs / 1_000).toFixed(1)} s`],
    ['violations', outcome.violations.length],
  ];
  console.log();
  for (const [name, value] of rows) console.log(`  ${name.padEnd(28)}${value}`);
  for (const { row, callNode, what } of outcome.violations) console.log(`\n  ${row}  ${callNode}: ${what}`);
  if (outcome.violations.length === 0) return;
  console.log('\nWhat was recorded of them:');
  for (const call of evidenceOf(outcome)) console.log(JSON.stringify(call, null, 2));
  const rounds = options.rounds ? ` --kill ${options.rounds.kill} --pause ${options.rounds.pause}` : '';
  const failover = options.failover ? ' --failover' : '';
  console.log(
    `\nAgain with the same choices: npm run chaos -- --seed ${options.seed} --seconds ${options.seconds} --executors ${options.executors}${rounds} --ledger ${options.ledger}${failover}`,
  );
}

function listed(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return entries.length === 0 ? 'none' : entries.map(([word, n]) => `${word} ${n}`).join(', ');
}
