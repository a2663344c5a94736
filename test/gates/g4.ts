/**
 * G4: how long a cancel takes, from the request to its terminal evidence, on a server that is asked as often as it may be:
 * all operations want to poll at every moment, and the cancels come in between.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../support/random.ts';
import { Field } from './field/field.ts';
import { FAST } from './g1/real.ts';
import { type Judged, percentile, type Run, whole } from './gate.ts';

const LIMIT_MS = 60_000;
const PATIENCE_MS = 90_000;

export function g4({ sizes, seed, signal, progress }: Run): Promise<Judged> {
  const rate = { qps: sizes.cancelQps, burst: Math.ceil(sizes.cancelQps / 4) };
  const executor = { policy: { ...FAST, waitBudgetMs: 600_000 }, leaseMs: 5_000, requestTimeoutMs: 10_000, rate };
  return Field.play({ servers: [{}], executors: 3, executor }, signal, async (field) => {
    const random = new Random(seed);
    const ids = await Promise.all(
      Array.from({ length: sizes.polled }, async (_, nth) => {
        const call = field.call(0, { callNode: `held-${nth}`, deeds: [], outcome: 'hold', pollInterval: 20 });
        const answer = await field.executor(nth).submit(call);
        if (answer.kind === 'refused') throw new Error(answer.reason);
        return answer.operationId;
      }),
    );
    const server = field.servers[0];
    while (((await server?.log())?.created.length ?? 0) < ids.length) await sleep(250, undefined, { signal });
    progress(`${ids.length} operations polled at ${rate.qps}/s`);

    const asked = new Map<string, number>();
    await Promise.all(
      ids.slice(0, sizes.cancels).map(async (id) => {
        await sleep(random.between(0, sizes.cancelSeconds * 1_000), undefined, { signal });
        asked.set(id, Date.now());
        const answer = await field.executor(random.between(0, 2)).cancel(id);
        if (answer.kind !== 'taken') throw new Error(`a cancel was not taken: ${answer.kind}`);
      }),
    );
    const open = new Set(asked.keys());
    for (
      const end = Date.now() + PATIENCE_MS;
      open.size > 0 && Date.now() < end;
      await sleep(250, undefined, { signal })
    ) {
      for (const id of open) if ((await field.ledger.readReceipt(id)) !== null) open.delete(id);
      progress(`${open.size} of ${asked.size} cancels not confirmed`);
    }

    const took: number[] = [];
    for (const [id, at] of asked) {
      if (open.has(id)) continue;
      const history = await field.ledger.readHistory(id);
      const confirmed = history.find(({ to }) => to === 'CANCELLED_ACCEPTED');
      took.push((confirmed?.at ?? Number.POSITIVE_INFINITY) - at);
    }
    const requests = (await server?.log())?.requests ?? [];
    const p99 = open.size > 0 ? Number.POSITIVE_INFINITY : percentile(took, 0.99);
    const polls = requests.filter(({ method }) => method === 'tasks/get').length;
    return {
      ran: 'cancels of operations under poll load',
      count: asked.size,
      figure: `p99 ${whole(p99)} ms`,
      limit: `< ${whole(LIMIT_MS)} ms`,
      pass: p99 < LIMIT_MS,
      notes: [
        `p50 ${whole(percentile(took, 0.5))} ms, longest ${whole(Math.max(...took))} ms; ${sizes.polled} operations share ${rate.qps} requests a second (${whole(polls)} polls), one turn each takes ${(sizes.polled / rate.qps).toFixed(1)} s`,
        ...(open.size > 0 ? [`${open.size} cancels were not confirmed in ${PATIENCE_MS / 1_000} s`] : []),
      ],
    };
  });
}
