/** Permits of the rate: too old to be used, in one line per process, and a cancel that does not stand in it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Line } from '../../machines/actor/line.ts';
import type { OperationLedger } from '../../machines/index.ts';
import { accepted, LEDGERS, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

const LATE_MS = 800;

interface Taken {
  readonly at: number;
  readonly lane: string | undefined;
  readonly waitMs: number;
}

/** The same ledger; each permit is noted, and held back for as long as `lateMs` says. */
function watched(target: OperationLedger, taken: Taken[], lateMs: (nth: number) => number): OperationLedger {
  const takePermit: OperationLedger['takePermit'] = async (key, qps, burst, lane) => {
    const answer = await target.takePermit(key, qps, burst, lane);
    taken.push({ at: Date.now(), lane, waitMs: answer.waitMs });
    await sleep(lateMs(taken.length));
    return answer;
  };
  return new Proxy(target, {
    get(_, name) {
      if (name === 'takePermit') return takePermit;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe.each(LEDGERS)('permits of the rate on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it('G3: a permit that is past its use-by when the process goes on is not used; another is taken', async () => {
    const server = await stage().server({ describe: 'use-by' });
    const taken: Taken[] = [];
    const ledger = watched(await stage().rig.ledger(), taken, (nth) => (nth === 1 ? LATE_MS : 0));
    const executor = await stage().rig.executor({ ledger, leaseMs: 6_000 });
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    const { requests } = await server.log();
    const sentAt = requests.find(({ method }) => method === 'tools/call')?.at ?? 0;
    expect(taken.length).toBeGreaterThanOrEqual(2);
    expect(sentAt).toBeGreaterThanOrEqual((taken[1]?.at ?? 0) - 20);
    expect((taken[1]?.at ?? 0) - (taken[0]?.at ?? 0)).toBeGreaterThanOrEqual(LATE_MS - 20);
  });

  it('G3: a call whose commit took longer than its permit is good for takes another before it is sent', async () => {
    const server = await stage().server({ describe: 'use-by of a commit' });
    const taken: Taken[] = [];
    const real = watched(await stage().rig.ledger(), taken, () => 0);
    let slow = true;
    const ledger = new Proxy(real, {
      get(target, name) {
        if (name !== 'commit') return Reflect.get(target, name) as unknown;
        const commit: OperationLedger['commit'] = async (step) => {
          const answer = await target.commit(step);
          if (slow && step.state === 'SUBMITTING.sending') await sleep(LATE_MS);
          slow &&= step.state !== 'SUBMITTING.sending';
          return answer;
        };
        return commit;
      },
    });
    const executor = await stage().rig.executor({ ledger, leaseMs: 6_000 });
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
    await until(executor, id, (state) => state === 'WORKING.polling');
    const { requests, counts } = await server.log();
    const sentAt = requests.find(({ method }) => method === 'tools/call')?.at ?? 0;
    expect(taken.filter(({ at }) => at <= sentAt)).toHaveLength(2);
    expect(counts['tools/call']).toBe(1);
  });

  it('G4: a cancel does not wait behind the polls of a busy server; the polls do not keep the ledger busy', async () => {
    const server = await stage().server({ describe: 'busy' });
    const taken: Taken[] = [];
    const ledger = watched(await stage().rig.ledger(), taken, () => 0);
    // Thirty operations want a poll every 40 ms, and the server may be asked five times a second.
    const rate = { qps: 5, burst: 30 };
    const executor = await stage().rig.executor({ ledger, rate });
    const ids = await Promise.all(
      Array.from({ length: 30 }, () => accepted(executor, workCall(server.endpoint, { outcome: 'hold' }))),
    );
    for (const id of ids) await until(executor, id, (state) => state === 'WORKING.polling');
    await sleep(500);
    const before = taken.length;
    const from = Date.now();
    const last = ids.at(-1) as string;
    await executor.cancel(last);
    await until(executor, last, (state) => state === 'CANCELLED_ACCEPTED');
    const tookMs = Date.now() - from;
    // In the line it would have been one of thirty, five a second.
    expect(tookMs).toBeLessThan(2_500);
    expect(taken.slice(before).filter(({ lane }) => lane === 'next')).toHaveLength(1);
    expect(taken.length - before).toBeLessThan(5 + Math.ceil((tookMs / 1_000) * rate.qps * 3));
  });
});

describe('a line', () => {
  it('lets one act at a time, in the order in which they came, and lets go of who gives up', async () => {
    const line = new Line();
    const order: string[] = [];
    const stay = new AbortController().signal;
    const leave = new AbortController();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    expect(line.isEmpty).toBe(true);
    const first = line.behindOthers(stay, async () => {
      await gate;
      order.push('first');
    });
    const impatient = line.behindOthers(leave.signal, async () => void order.push('impatient'));
    const broken = line.behindOthers(stay, () => Promise.reject(new Error('no ledger')));
    const last = line.behindOthers(stay, async () => void order.push('last'));
    leave.abort();
    await impatient;
    expect(order).toEqual([]);
    open();
    await expect(broken).rejects.toThrow('no ledger');
    await Promise.all([first, last]);
    expect(order).toEqual(['first', 'last']);
    await first;
    expect(line.isEmpty).toBe(true);
  });
});
