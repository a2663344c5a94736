/** Several executors on one ledger: who looks after what, what it costs, and what becomes of the part of one that is gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { Spread } from '../../machines/actor/spread.ts';
import { Executor, type LiveProcess, type OperationLedger, systemClock } from '../../machines/index.ts';
import { most } from '../gates/g3.ts';
import { accepted, eventually, FAST, NAMESPACE, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

const PARTITIONS = 16;
const SCOPE = 'endpoint:e';
const fleet = (count: number): LiveProcess[] =>
  Array.from({ length: count }, (_, nth) => ({ processId: `process-${nth}`, scopes: [SCOPE] }));

/** The line of each partition, as each process sees it: places by process id. */
function lines(alive: readonly LiveProcess[], scope = SCOPE): Map<string, number>[] {
  const seen = alive.map(({ processId }) => {
    const spread = new Spread(processId, PARTITIONS, 1);
    spread.update(alive);
    return [processId, spread] as const;
  });
  return Array.from(
    { length: PARTITIONS },
    (_, partition) => new Map(seen.map(([id, spread]) => [id, spread.patienceMs(partition, scope)])),
  );
}
const firsts = (alive: readonly LiveProcess[], scope = SCOPE): (string | undefined)[] =>
  lines(alive, scope).map((line) => [...line].find(([, place]) => place === 0)?.[0]);

describe('the spread of partitions', () => {
  it('B8: every partition has one first, one second, ..., and after the fourth nobody waits longer', () => {
    for (const line of lines(fleet(8))) expect([...line.values()].sort()).toEqual([0, 1, 2, 3, 4, 4, 4, 4]);
    expect(new Set(firsts(fleet(8))).size).toBeGreaterThan(4);
  });

  it('who goes leaves its partitions to those next in line, and nothing else moves; who comes takes only for itself', () => {
    const all = fleet(8);
    const before = lines(all);
    const gone = 'process-3';
    const after = firsts(all.filter(({ processId }) => processId !== gone));
    before.forEach((line, partition) => {
      const [first, second] = [...line].sort(([, a], [, b]) => a - b).map(([id]) => id);
      expect(after[partition]).toBe(first === gone ? second : first);
    });
    expect(after).not.toContain(gone);
  });

  it('only those who serve a scope are in line for it; what one process serves is its own, also in its absence', () => {
    const all = fleet(4).map((process, nth) => ({
      ...process,
      scopes: nth === 2 ? [SCOPE, 'endpoint:rare'] : [SCOPE],
    }));
    const spread = new Spread('process-2', PARTITIONS, 100);
    const changes = [spread.update(all), spread.update(all), spread.update(all.slice(1)), spread.update(all.slice(1))];
    expect(changes).toEqual([
      { changed: true, gone: false },
      { changed: false, gone: false },
      { changed: true, gone: true },
      { changed: false, gone: false },
    ]);
    spread.update(all);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      expect(spread.patienceMs(partition, 'endpoint:rare')).toBe(0);
      expect(spread.patienceMs(partition, 'process:process-2')).toBe(0);
      expect(spread.patienceMs(partition, SCOPE) % 100).toBe(0);
    }
    expect(new Set(firsts(all, 'process:dead')).size).toBeGreaterThan(1);
    const isFirst = Array.from({ length: PARTITIONS }, (_, partition) => spread.isFirst(partition));
    expect(isFirst).toEqual(firsts(all, 'process:dead').map((id) => id === 'process-2'));
  });

  it('a process that says something else about what it serves changes the lines', () => {
    const spread = new Spread('process-0', PARTITIONS, 1);
    spread.update(fleet(2).map((process) => ({ ...process, scopes: [] })));
    expect(spread.update(fleet(2))).toEqual({ changed: true, gone: false });
    const places = Array.from({ length: PARTITIONS }, (_, partition) => spread.patienceMs(partition, SCOPE));
    expect(new Set(places)).toEqual(new Set([0, 1]));
  });
});

/** What one executor asked, and who it heard is alive. */
interface Asked {
  readonly partitions: number[];
  claimed: number;
  alive: readonly LiveProcess[];
}

/** The same ledger; each claim is noted. */
function counted(target: OperationLedger, asked: Asked): OperationLedger {
  const claimDue: OperationLedger['claimDue'] = async (ask) => {
    const answer = await target.claimDue(ask);
    asked.partitions.push(...(ask.partitions ?? []));
    asked.claimed += answer.claimed.length;
    return answer;
  };
  const heartbeat: OperationLedger['heartbeat'] = async (...args) => {
    asked.alive = await target.heartbeat(...args);
    return asked.alive;
  };
  return new Proxy(target, {
    get(_, name) {
      if (name === 'claimDue') return claimDue;
      if (name === 'heartbeat') return heartbeat;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('several executors on one Redis', () => {
  const stage = useStage('redis');
  const creators: Executor[] = [];
  afterEach(async () => {
    for (const one of creators.splice(0)) await one.stop();
  });
  /** Creates calls and serves none. */
  const creator = async () => {
    const ledger = await stage().rig.ledger();
    const one = new Executor({ ledger, namespace: NAMESPACE, protocols: [mcp20251125()], policy: FAST });
    creators.push(one);
    return one;
  };

  it('B8: no herd: of eight, one asks for what is due in a partition, and gets it', async () => {
    const server = await stage().server({ describe: 'herd' });
    const asked: Asked[] = [];
    const executors: Executor[] = [];
    for (let nth = 0; nth < 8; nth++) {
      const mine: Asked = { partitions: [], claimed: 0, alive: [] };
      asked.push(mine);
      const ledger = counted(await stage().rig.ledger(), mine);
      // Nobody looks without a reason, and nobody loses patience with another one, while this is counted.
      const patience = { graceMs: 600_000, lookEveryMs: 600_000, processTimeoutMs: 600_000 };
      executors.push(
        await stage().rig.executor({ ledger, endpoints: [server.endpoint], ...patience, leaseMs: 60_000 }),
      );
    }
    // Each hears of the others with its signs of life, and then looks everywhere, once.
    await eventually(
      async () => asked.every(({ alive }) => alive.filter(({ scopes }) => scopes.length > 0).length === 8),
      20_000,
    );
    await sleep(500);
    const parts = executors.map(({ processId }, nth) => {
      const spread = new Spread(processId, PARTITIONS, 1);
      spread.update(asked[nth]?.alive ?? []);
      return [...Array(PARTITIONS).keys()].filter((partition) => spread.isFirst(partition));
    });
    expect(parts.flat().sort((a, b) => a - b)).toEqual([...Array(PARTITIONS).keys()]);
    for (const mine of asked) mine.partitions.length = mine.claimed = 0;

    const one = await creator();
    const ids = await Promise.all(
      Array.from({ length: 48 }, () => accepted(one, workCall(server.endpoint, { outcome: 'hold' }))),
    );
    for (const id of ids) await until(one, id, (state) => state === 'WORKING.polling');
    await eventually(async () => asked.reduce((sum, { claimed }) => sum + claimed, 0) >= 4 * ids.length, 20_000);

    const foreign = asked.map(({ partitions }, nth) => partitions.filter((asking) => !parts[nth]?.includes(asking)));
    expect(foreign).toEqual(asked.map(() => []));
  });

  it.each([
    { how: 'the next in line takes over after the grace', options: { graceMs: 300, processTimeoutMs: 600_000 } },
    {
      how: 'it is out of the line when its sign of life is old',
      options: { graceMs: 600_000, processTimeoutMs: 1_500 },
    },
  ])(
    'B8 G5: one of three is killed, one stopped: $how',
    async ({ options }) => {
      const server = await stage().server({ describe: String(options.graceMs) });
      const orders = { url: server.url, policy: FAST, options: { ...options, lookEveryMs: 500 } };
      const [killed, stopped, left] = [stage().process(orders), stage().process(orders), stage().process(orders)];
      const ready = [killed, stopped, left].map((one) => one.line((line) => 'ready' in line));
      const names = (await Promise.all(ready)).map((line) => `x-${line.ready}`);
      const one = await creator();
      const submit = (count: number) =>
        Promise.all(Array.from({ length: count }, () => accepted(one, workCall(server.endpoint, { ms: 100 }))));
      const drivenBy = async (ids: readonly string[]) => {
        for (const id of ids) await until(one, id, (state) => state === 'ACCEPTED', 25_000);
        const histories = await Promise.all(ids.map((id) => stage().ledger.readHistory(id)));
        return new Set(histories.flat().flatMap(({ event, executor }) => (event === 'created' ? [] : [executor])));
      };
      await killed.kill();
      stopped.signal('SIGSTOP');
      expect(await drivenBy(await submit(24))).toEqual(new Set([names[2]]));
      // Who goes on takes its part again.
      stopped.signal('SIGCONT');
      await eventually(async () => (await drivenBy(await submit(6))).has(names[1] ?? ''), 25_000);
      expect((await server.log()).counts['tools/call']).toBeGreaterThanOrEqual(30);
      expect(await stage().ledger.audit()).toEqual([]);
      await Promise.all([killed, stopped, left].map((process) => process.kill()));
    },
    60_000,
  );

  it('G3 B8: eight executors with clocks 30 s apart, four of them processes of their own, keep to the rate', async () => {
    const server = await stage().server({ describe: 'clocks' });
    const rate = { qps: 20, burst: 10 };
    const processes = [-30_000, -10_000, 15_000, 30_000].map((aheadMs) =>
      stage().process({ url: server.url, policy: FAST, aheadMs, leaseMs: 4_000, options: { rate } }),
    );
    for (const process of processes) await process.line((line) => 'ready' in line);
    const executors: Executor[] = [];
    for (const aheadMs of [-30_000, 0, 10_000, 30_000]) {
      const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + 1_000_000 + aheadMs };
      executors.push(await stage().rig.executor({ clock, rate, leaseMs: 4_000, endpoints: [server.endpoint] }));
    }
    await Promise.all(
      Array.from({ length: 24 }, (_, nth) =>
        accepted(executors[nth % 4] as Executor, workCall(server.endpoint, { outcome: 'hold', pollInterval: 40 })),
      ),
    );
    const about = new Set(['tools/call', 'tasks/get']);
    const times = async () =>
      (await server.log()).requests.filter(({ method }) => about.has(method)).map(({ at }) => at);
    await eventually(async () => (await times()).length > 130, 40_000);
    const seen = await times();
    expect(most(seen, 1_000)).toBeLessThanOrEqual(rate.qps + rate.burst);
    expect(most(seen, 4_000)).toBeLessThanOrEqual(4 * rate.qps + rate.burst);
    // The processes took their part: what one executor keeps to alone would prove nothing.
    expect(processes.filter(({ states }) => states.length > 0).length).toBeGreaterThan(0);
    await Promise.all(processes.map((process) => process.kill()));
  }, 60_000);
});
