/**
 * G3: poll amplification. Many operations at once on one server, through eight executors with clocks 30 s apart, all wanting
 * to poll far more often than the server may be asked. Counted at the server, in every sliding second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { standings } from '../chaos/judge.ts';
import { Random } from '../support/random.ts';
import { Field } from './field/field.ts';
import { FAST } from './g1/real.ts';
import { type Judged, type Run, whole } from './gate.ts';

/** What is asked about operations; the declarations of a server are read once per submission, before there is one. */
const ABOUT_OPERATIONS = new Set(['tools/call', 'tasks/get', 'tasks/result', 'tasks/cancel', 'dev.toolop/lookup']);
const EXECUTORS = 8;
const CLOCKS_APART_MS = 30_000;
const PATIENCE_MS = 240_000;

export function g3({ sizes, seed, signal, progress }: Run): Promise<Judged> {
  const rate = { qps: sizes.qps, burst: sizes.burst };
  const executor = { policy: { ...FAST, waitBudgetMs: 600_000 }, leaseMs: 5_000, requestTimeoutMs: 10_000, rate };
  const options = { servers: [{}], executors: EXECUTORS, clocksApartMs: CLOCKS_APART_MS, executor };
  return Field.play(options, signal, async (field) => {
    const random = new Random(seed);
    const calls = Array.from({ length: sizes.concurrent }, (_, nth) =>
      field.call(0, { callNode: `polled-${nth}`, deeds: [], ms: random.between(500, 4_000), pollInterval: 50 }),
    );
    const began = Date.now();
    await Promise.all(
      calls.map(async (call, nth) => {
        const answer = await field.executor(nth).submit(call);
        if (answer.kind === 'refused') throw new Error(answer.reason);
      }),
    );
    let open = calls.length;
    while (open > 0 && Date.now() - began < PATIENCE_MS) {
      await sleep(1_000, undefined, { signal });
      open = (await standings(field.ledger)).filter(({ state }) => state !== 'ACCEPTED').length;
      progress(`${open} of ${calls.length} operations open`);
    }
    const [server] = field.servers;
    const requests = (await server?.log())?.requests ?? [];
    const times = requests.filter(({ method }) => ABOUT_OPERATIONS.has(method)).map(({ at }) => at);
    const second = most(times, 1_000);
    const tenth = most(times, 10_000);
    const limit = rate.qps + rate.burst;
    const lasted = Math.max(...times) - Math.min(...times);
    return {
      ran: `requests at one server, ${EXECUTORS} executors`,
      count: times.length,
      figure: `${second} in the busiest second`,
      limit: `${limit} (${rate.qps}/s + a burst of ${rate.burst})`,
      pass: open === 0 && second <= limit && tenth <= 10 * rate.qps + rate.burst,
      notes: [
        `${calls.length} concurrent operations in ${(lasted / 1_000).toFixed(1)} s: ${whole((times.length / lasted) * 1_000)} requests a second on average, ${tenth} in the busiest ten seconds (limit ${10 * rate.qps + rate.burst})`,
        `besides: ${requests.length - times.length} requests for declarations (initialize, tools/list), by the submissions`,
        ...(open > 0 ? [`${open} operations did not end in ${PATIENCE_MS / 1_000} s`] : []),
      ],
    };
  });
}

/** The most of these times that lie within any window of this length. */
export function most(times: readonly number[], windowMs: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  let first = 0;
  let highest = 0;
  for (const [index, at] of sorted.entries()) {
    while (at - (sorted[first] ?? at) >= windowMs) first++;
    highest = Math.max(highest, index - first + 1);
  }
  return highest;
}
