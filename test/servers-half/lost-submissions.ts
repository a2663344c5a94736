/**
 * Lost submissions against the store of the servers' half (G2): senders whose replies are dropped, whose requests arrive
 * after the look-up, and who are stopped and continued by somebody else. Each call is sent under one key by the rules of
 * section 6 until it is acknowledged, found, or given up on the word of a look-up. Afterwards every request that was
 * still on its way arrives. A key may then have one task; a call that was given up, none.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { halfSettings } from '../../adapters/mcp/server/options.ts';
import { ServerStore } from '../../adapters/mcp/server/store.ts';
import type { SubmissionMark } from '../../adapters/mcp/server/submission.ts';
import { digestOf } from '../../machines/digest.ts';
import { Random } from '../support/random.ts';

export interface LostSubmissions {
  readonly redis: string;
  readonly count: number;
  readonly seed: number;
  /**
   * `contract`: as it is meant. `callAgain`: nobody looks up: a call without a reply is made anew, under another key. `noClosing`:
   * the look-up is answered from what is there, and closes nothing. The last two must be found out.
   */
  readonly rules: 'contract' | 'callAgain' | 'noClosing';
}

export interface LostSubmissionsReport {
  readonly calls: number;
  readonly requests: number;
  readonly repliesDropped: number;
  readonly arrivedAfterLookup: number;
  readonly senderStops: number;
  readonly givenUp: number;
  /** Tasks beyond the first of one call. */
  readonly duplicates: number;
  /** Tasks of calls that were given up as never created. */
  readonly orphans: number;
  /** Calls that were acknowledged and have no task, or another one than the sender knows. */
  readonly lost: number;
}

const PROCESSES = 3;
const AT_ONCE = 50;

export async function lostSubmissions(options: LostSubmissions): Promise<LostSubmissionsReport> {
  const { redis, count, seed, rules } = options;
  const settings = halfSettings({ redis, retentionMs: 3_600_000, namespace: `lost-${rules}-${seed}` });
  const stores = Array.from({ length: PROCESSES }, () => new ServerStore(redis, settings, 'test'));
  const made = new Map<number, Set<string>>();
  const seen = {
    requests: 0,
    repliesDropped: 0,
    arrivedAfterLookup: 0,
    senderStops: 0,
    givenUp: 0,
    orphans: 0,
    lost: 0,
  };
  const late: Promise<void>[] = [];
  // Nobody waits for what arrives late before the end: what fails there ends every sender, and is told in the end.
  let failure: unknown = null;
  const later = (arrived: Promise<void>): void => {
    late.push(
      arrived.catch((error: unknown) => {
        failure ??= error;
      }),
    );
  };

  async function play(index: number): Promise<void> {
    const random = new Random(seed * 1_000_003 + index);
    const store = (): ServerStore => random.pick(stores);
    const digest = digestOf(index);
    const markOf = (attempt: number): SubmissionMark => {
      const key = digestOf([seed, index, rules === 'callAgain' ? attempt : 0]);
      return { key, attempt, digest, principal: 'sender' };
    };
    let asked = 0;
    const tasks = new Set<string>();
    made.set(index, tasks);

    /** The request, as it arrives at some process of the server. */
    const arrive = async (at: ServerStore, attempt: number): Promise<string | null> => {
      if (asked >= attempt) seen.arrivedAfterLookup += 1;
      const task = { owner: 'sender', tool: 'work', request: { index }, ttlMs: null, pollMs: null, resumable: false };
      const submitted = await at.submit(task, `worker of ${index}`, markOf(attempt));
      if (submitted.kind === 'created') tasks.add(submitted.task.taskId);
      return submitted.kind === 'created'
        ? submitted.task.taskId
        : submitted.kind === 'exists'
          ? submitted.taskId
          : null;
    };
    const lookUp = async (attempt: number): Promise<string | 'never'> => {
      asked = attempt;
      if (rules === 'noClosing') return [...tasks][0] ?? 'never';
      const looked = await store().lookup(markOf(attempt), 'sender');
      if (looked.kind === 'found') return looked.task.taskId;
      if (looked.kind === 'neverCreated') return 'never';
      throw new Error(`the look-up answered ${looked.kind}`);
    };
    /** The sender is stopped, and goes on later, or another one does. */
    const pause = async (): Promise<void> => {
      if (!random.chance(0.3)) return;
      seen.senderStops += 1;
      await sleep(random.between(0, 30));
    };

    for (let attempt = 1; ; attempt++) {
      if (failure !== null) throw failure;
      await pause();
      seen.requests += 1;
      const [at, delayMs] = [store(), random.chance(0.5) ? random.between(0, 40) : 0];
      const arrival = sleep(delayMs).then(() => arrive(at, attempt));
      later(arrival.then(() => undefined));
      let known: string | null = null;
      if (random.chance(0.6)) seen.repliesDropped += 1;
      else known = await Promise.race([arrival, sleep(random.between(0, 40)).then(() => null)]);
      if (known === null && rules === 'callAgain') continue;
      if (known === null) {
        await pause();
        const found = await lookUp(attempt);
        if (found === 'never' && random.chance(0.2)) {
          seen.givenUp += 1;
          later(
            arrival.then(() => {
              seen.orphans += tasks.size;
            }),
          );
          return;
        }
        if (found === 'never') continue;
        known = found;
      }
      const answer = known;
      later(
        arrival.then(() => {
          if (!tasks.has(answer)) seen.lost += 1;
        }),
      );
      return;
    }
  }

  try {
    for (let first = 0; first < count; first += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, offset) => play(first + offset)));
    }
    await Promise.all(late);
    if (failure !== null) throw failure;
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
  const duplicates = [...made.values()].reduce((sum, tasks) => sum + Math.max(0, tasks.size - 1), 0);
  return { calls: count, ...seen, duplicates };
}
