/**
 * `npm run mutate`: deliberate faults in the chart, in the ledger's scripts and in the order of commit and effect, each of
 * which a test has to notice. Prints what kills each one. Exit code 1 when one survives, 2 when nothing can be judged.
 */
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { count } from '../support/numbers.ts';
import { mutantsOf } from './catalogue.ts';
import { EQUIVALENT } from './equivalent.ts';
import { type Case, judgeAll, processJudge } from './judge.ts';
import { KINDS, type Kind, MEANINGS, type Verdict } from './mutant.ts';
import { summaryOf, told } from './summary.ts';

const oneMore = (text: string, before: readonly Kind[] | undefined): readonly Kind[] => {
  const kind = KINDS.find((each) => each === text);
  if (kind === undefined) throw new InvalidArgumentError(`the kinds are ${KINDS.join(', ')}.`);
  return [...(before ?? []), kind];
};

const given = new Command('mutate')
  .description(
    `Plants one fault at a time and has a fast suite look for it:\n${KINDS.map((kind) => `  ${kind.padEnd(12)} ${MEANINGS[kind]}`).join('\n')}`,
  )
  .option('--kind <kind>', 'only this kind; may be given several times', oneMore)
  .option('--only <text>', 'only mutants whose name contains this')
  .option('--jobs <n>', 'how many are judged at a time', count, availableParallelism())
  .option('--json', 'one JSON document on stdout, in place of the list')
  .parse()
  .opts<{ kind?: readonly Kind[]; only?: string; jobs: number; json?: boolean }>();

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt.abort());

const kinds = given.kind ?? KINDS;
const copyOf = () => {
  throw new Error('only judges change sources');
};
const cases = kinds.flatMap((kind) =>
  mutantsOf(kind, copyOf)
    .filter(({ name }) => given.only === undefined || name.includes(given.only))
    .map(({ name }): Case => ({ kind, name })),
);
if (cases.length === 0) {
  console.error(`no mutant is called so: ${given.only}`);
  process.exit(2);
}

const began = performance.now();
const verdicts: Verdict[] = [];
const judging = { judges: given.jobs, judge: processJudge, signal: interrupt.signal };
try {
  const suites = kinds.filter((kind) => cases.some((each) => each.kind === kind)).filter(isOfOwnSuite);
  progress(`first, the suites on what is not changed: ${suites.join(', ')}`);
  let sound = true;
  await judgeAll(
    suites.map((kind) => ({ kind, name: null })),
    {
      ...judging,
      onVerdict: ({ kind, killer }) => {
        if (killer === null) return;
        sound = false;
        console.error(`the suite of ${kind} fails where nothing is changed, so it can judge nothing: ${killer}`);
      },
    },
  );
  if (!sound) process.exit(2);
  await judgeAll(cases, { ...judging, onVerdict: (verdict) => heard(verdict) });
} catch (error) {
  clear();
  if (!interrupt.signal.aborted) throw error;
  console.error('interrupted: everything was stopped, nothing was judged');
  process.exit(130);
}
clear();

// In the order in which they were found, whoever was judged first.
const order = new Map(cases.map(({ kind, name }, index) => [`${kind} ${name}`, index]));
const position = ({ kind, name }: Verdict) => order.get(`${kind} ${name}`) ?? 0;
verdicts.sort((a, b) => position(a) - position(b));
const summary = summaryOf(verdicts, EQUIVALENT);
const seconds = Math.round((performance.now() - began) / 1_000);
if (given.json) console.log(JSON.stringify({ seconds, ...summary, verdicts }, null, 2));
else console.log(`${told(verdicts, summary)}\n${verdicts.length} mutants in ${seconds} s`);
process.exitCode = summary.pass ? 0 : 1;

/** The three kinds of faults in a chart share one suite. */
function isOfOwnSuite(kind: Kind, index: number, all: readonly Kind[]): boolean {
  const isOfChart = (each: Kind) => each !== 'scripts' && each !== 'orders';
  return !isOfChart(kind) || all.findIndex(isOfChart) === index;
}

function heard(verdict: Verdict): void {
  verdicts.push(verdict);
  const { kind, name, killer } = verdict;
  if (killer === null && EQUIVALENT[name] === undefined) {
    clear();
    console.error(`alive: ${kind}  ${name}`);
  }
  if (process.stderr.isTTY || verdicts.length % 25 === 0)
    progress(`${verdicts.length} of ${cases.length} (${kind}), ${Math.round((performance.now() - began) / 1_000)} s`);
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else process.stderr.write(`${text}\n`);
}

function clear(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}
