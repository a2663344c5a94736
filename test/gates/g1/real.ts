/**
 * G1 on real parts: rounds of operations through the production executor, a real Redis and real servers, many at once.
 * After the storm of each round everything is healed; all must come to rest, and the checker judges what was recorded.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApprovalPort } from '../../../machines/approval-gate/round.ts';
import type { Policy } from '../../../machines/index.ts';
import { judge, settle } from '../../chaos/judge.ts';
import { allOperations } from '../../kit/record.ts';
import { Random } from '../../support/random.ts';
import { Field } from '../field/field.ts';
import { few, type Run, whole } from '../gate.ts';
import { type Life, lifeOf, SERVERS } from './lives.ts';

const EXECUTORS = 3;
/** Rounds at the same time: while one waits for the last of its operations, the next one works. */
const AT_ONCE = 2;
/** Orderings that repeat earlier ones: so many more operations may be run than are wanted. */
const PATIENCE = 2;
/** How long nothing may come to rest, once all is healed, before it counts as stuck, ms. */
const STUCK_MS = 30_000;

/** ms: what a person would wait minutes for takes a second here. */
export const FAST: Partial<Policy> = {
  pollIntervalMs: 100,
  minPollIntervalMs: 50,
  maxPollIntervalMs: 500,
  maxBackoffMs: 500,
  waitBudgetMs: 10_000,
  lookupBudgetMs: 2_000,
  fetchBudgetMs: 3_000,
  cancelBudgetMs: 3_000,
  inputDeadlineMs: 4_000,
  parkedIntervalMs: 300,
};

export interface Real {
  readonly run: number;
  readonly distinct: number;
  readonly violations: readonly string[];
  readonly receipts: Readonly<Record<string, number>>;
  readonly parked: Readonly<Record<string, number>>;
  readonly faults: number;
  readonly seconds: number;
}

export async function performReal(run: Run): Promise<Real> {
  const { sizes, seed, signal, progress } = run;
  const began = performance.now();
  const orderings = new Set<string>();
  const receipts: Record<string, number> = {};
  const parked: Record<string, number> = {};
  const violations: string[] = [];
  let made = 0;
  let over = 0;
  let faults = 0;
  const wanted = () =>
    orderings.size < sizes.real && made < sizes.real * PATIENCE && violations.length === 0 && !signal.aborted;

  const play = async () => {
    while (wanted()) {
      const first = seed + made;
      const lives = Array.from({ length: Math.min(sizes.round, sizes.real) }, (_, nth) =>
        lifeOf(first + nth, EXECUTORS),
      );
      made += lives.length;
      const round = await playRound(lives, signal);
      for (const ordering of round.orderings) orderings.add(ordering);
      for (const [word, count] of Object.entries(round.receipts)) receipts[word] = (receipts[word] ?? 0) + count;
      for (const [word, count] of Object.entries(round.parked)) parked[word] = (parked[word] ?? 0) + count;
      violations.push(...round.violations);
      over += lives.length;
      faults += round.faults;
      const rate = over / ((performance.now() - began) / 1_000);
      progress(`real: ${whole(orderings.size)} distinct of ${whole(over)} operations, ${rate.toFixed(1)}/s`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, play));
  signal.throwIfAborted();
  const seconds = (performance.now() - began) / 1_000;
  return { run: over, distinct: orderings.size, violations, receipts, parked, faults, seconds };
}

interface Round {
  readonly orderings: readonly string[];
  readonly violations: readonly string[];
  readonly receipts: Readonly<Record<string, number>>;
  readonly parked: Readonly<Record<string, number>>;
  readonly faults: number;
}

function playRound(lives: readonly Life[], signal: AbortSignal): Promise<Round> {
  const random = new Random(lives[0]?.seed ?? 0);
  const executor = {
    policy: FAST,
    leaseMs: 2_000,
    requestTimeoutMs: 1_500,
    processTimeoutMs: 3_000,
    rate: { qps: 2_000, burst: 2_000 },
    concurrency: 512,
    approval: human(random),
  };
  return Field.play({ servers: SERVERS, executors: EXECUTORS, executor }, signal, async (field) => {
    const storm = Promise.all(lives.map((life) => live(field, life)));
    const replaced = (async () => {
      for (let nth = 0; nth < EXECUTORS; nth++) {
        await sleep(random.between(500, 1_500), undefined, { signal });
        if (random.chance(0.5)) await field.replace(nth);
      }
    })();
    const troubles = (await storm).flatMap((trouble) => (trouble === null ? [] : [trouble]));
    await replaced;
    await Promise.all(field.servers.map((server) => server.calm()));
    const restless = await settle(field.ledger, field.servers, STUCK_MS, () => signal.throwIfAborted());
    const judgement = await judge(field.ledger, field.servers, [], restless);
    const lines = Object.assign({}, ...(await Promise.all(field.servers.map((server) => server.lines()))));
    return {
      orderings: await orderingsOf(field, lines),
      violations: [
        ...troubles,
        ...judgement.violations.map(({ row, callNode, what }) => `${row} ${callNode}: ${what}`),
        ...(judgement.operations === lives.length ? [] : [`${judgement.operations} records of ${lives.length} calls`]),
      ],
      receipts: judgement.receipts,
      parked: judgement.parked,
      faults: (Object.values(lines) as string[][]).flat().filter((line) => !line.endsWith(' ')).length,
    };
  });
}

/** Hands the call to whom its life says, and cancels it when it says so. Answers what must not have happened. */
async function live(field: Field, life: Life): Promise<string | null> {
  const call = field.call(life.server, life.script, life.more);
  const submit = async (by: number, afterMs: number): Promise<string | null> => {
    await sleep(afterMs);
    for (let tries = 0; tries < 20; tries++) {
      // An executor that was just replaced may be closing its sessions.
      const answer = await field
        .executor(by)
        .submit(call)
        .catch((error: Error) => ({ kind: 'failed' as const, reason: error.message }));
      if (answer.kind === 'accepted') return null;
      if (answer.kind === 'refused' && tries > 10) return `${call.callNodeId} was refused: ${answer.reason}`;
      await sleep(200);
    }
    return `${call.callNodeId} was never taken`;
  };
  const submitted = life.submitters.map((by, nth) => submit(by, nth === 0 ? 0 : life.apartMs));
  const cancelled = life.cancels.map(async ({ by, afterMs }) => {
    await Promise.race(submitted);
    await sleep(afterMs);
    const executor = field.executor(by);
    await executor.cancel(executor.operationIdOf(call), `executor ${by}`).catch(() => undefined);
  });
  await Promise.all(cancelled);
  return (await Promise.all(submitted)).find((trouble) => trouble !== null) ?? null;
}

/** Answers after a while; an answer says which question it is meant for. Declines now and then. */
function human(random: Random): ApprovalPort {
  return {
    async ask({ request }, withdrawn) {
      await sleep(random.between(0, 300), undefined, { signal: withdrawn }).catch(() => undefined);
      return random.chance(0.1) ? { action: 'decline' } : { action: 'accept', content: { word: request.message } };
    },
  };
}

/**
 * What happened to each operation: who committed which step, in the ledger's order; who asked for what and what became of
 * it, in the server's. No times: they would make everything distinct.
 */
async function orderingsOf(field: Field, lines: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
  const names = new Map(field.executors.map((executor, nth) => [executor.env.executorId, `executor ${nth}`]));
  const operations = await allOperations(field.ledger);
  return Promise.all(
    operations.map(async ({ operationId, snapshot }) => {
      const { callNodeId, endpoint } = (
        JSON.parse(snapshot) as { context: { callNodeId: string; endpoint: { url: string } } }
      ).context;
      const steps = await field.ledger.readHistory(operationId);
      const server = field.servers.findIndex(({ url }) => url === endpoint.url);
      const happened = [
        `server ${server}`,
        ...steps.map(({ executor, event, from, to }) => `${names.get(executor) ?? 'replaced'} ${event} ${from} ${to}`),
        ...(lines[callNodeId] ?? []),
      ];
      return createHash('sha256').update(happened.join('\n')).digest('base64');
    }),
  );
}

export function realNotes({ run, distinct, violations, receipts, parked, faults, seconds }: Real): string[] {
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([word, count]) => `${word} ${whole(count)}`)
      .join(', ') || 'none';
  return [
    `real: ${whole(distinct)} distinct of ${whole(run)} operations in ${seconds.toFixed(0)} s (${(run / seconds).toFixed(1)}/s), ${whole(faults)} faults`,
    `receipts: ${list(receipts)}; parked where no server can answer: ${list(parked)}`,
    ...few(violations),
  ];
}
