/** How long it stays unknown what became of a call, where the server can answer: among a thousand that run, 1 % of the messages lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deed } from '../../gates/field/deeds.ts';
import { Field } from '../../gates/field/field.ts';
import { unknownTimes } from '../../gates/g5.ts';
import { Random } from '../../support/random.ts';
import type { Bench } from '../suite.ts';

const LOST_SHARE = 0.01;
const METHODS = ['tools/call', 'tasks/get', 'tasks/result', 'dev.toolop/lookup'] as const;
/** Of each method, how many requests of one operation may be lost. */
const REQUESTS = 4;
const PATIENCE_MS = 120_000;

export interface Unknowns {
  readonly lost: number;
  readonly times: readonly number[];
  readonly open: number;
}

/** One round: all calls are begun within a few seconds, and each comes to its end. */
export function unknownRound(bench: Bench, operations: number, seed: number): Promise<Unknowns> {
  const executor = { requestTimeoutMs: 5_000, rate: { qps: 2_000, burst: 2_000 } };
  return Field.play({ servers: [{ lookup: true }], executors: 3, executor }, bench.signal, async (field) => {
    const random = new Random(seed);
    let lost = 0;
    const ids = await Promise.all(
      Array.from({ length: operations }, async (_, nth) => {
        const deeds = lostMessages(random);
        lost += deeds.length;
        const call = field.call(0, { callNode: `lossy-${seed}-${nth}`, deeds, ms: random.between(500, 4_000) });
        await sleep((nth / operations) * 3_000, undefined, { signal: bench.signal });
        const answer = await field.executor(nth).submit(call);
        if (answer.kind === 'refused') throw new Error(answer.reason);
        return answer.operationId;
      }),
    );
    const open = new Set(ids);
    for (const end = Date.now() + PATIENCE_MS; open.size > 0 && Date.now() < end; ) {
      for (const id of open) if ((await field.ledger.readReceipt(id)) !== null) open.delete(id);
      bench.progress(`${open.size} of ${ids.length} operations under way, ${lost} messages lost at most`);
      await sleep(250, undefined, { signal: bench.signal });
    }
    const times: number[] = [];
    for (const id of ids) {
      for (const { ms, parked } of unknownTimes(await field.ledger.readHistory(id))) if (!parked) times.push(ms);
    }
    return { lost, times, open: open.size };
  });
}

function lostMessages(random: Random): Deed[] {
  const deeds: Deed[] = [];
  for (const method of METHODS) {
    for (let nth = 1; nth <= REQUESTS; nth++) {
      if (random.chance(LOST_SHARE)) deeds.push({ method, nth, kind: random.pick(['lostBefore', 'lostReply']), ms: 0 });
    }
  }
  return deeds;
}
