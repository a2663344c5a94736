import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { Executor, type HistoryEntry } from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';
import { asked } from '../support/bench.ts';
import { accepted, NAMESPACE, workCall } from '../support/rig.ts';

const TEN_MINUTES = 600_000;
const POLL_MS = 30_000;

describe('the virtual clock', () => {
  it('wakes sleepers in the order of their times, and never before', async () => {
    const clock = new VirtualClock(1);
    const woken: [number, number][] = [];
    const sleep = async (ms: number) => {
      await clock.sleep(ms);
      woken.push([ms, clock.monotonic()]);
    };
    await Promise.all([5_000, 10, 5_000, 0, 60_000].map(sleep));
    expect(woken).toEqual([0, 10, 5_000, 5_000, 60_000].map((ms) => [ms, ms]));
  });

  it('stands still while something watched is on its way, and lets a sleeper go when its signal aborts', async () => {
    const clock = new VirtualClock(1);
    const { work } = clock.watch({ work: () => new Promise<void>((resolve) => setTimeout(resolve, 30)) });
    const working = work();
    let woken = false;
    const asleep = clock.sleep(1).then(() => {
      woken = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(woken).toBe(false);
    await Promise.all([working, asleep]);
    const abort = new AbortController();
    const aborted = clock.sleep(1e9, abort.signal);
    const still = clock.monotonic();
    abort.abort();
    await aborted;
    expect(clock.monotonic()).toBe(still);
  });
});

describe('ten minutes of a long tool call, in virtual time', () => {
  const directory = mkdtempSync(join(tmpdir(), 'toolop-clock-'));
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  /** A real server and a real file; the time between their answers is left out. */
  async function tenMinutes(seed: number, name: string) {
    const clock = new VirtualClock(seed);
    const ledger = await openLedger(join(directory, name), { namespace: NAMESPACE, now: clock.ledgerNow });
    const executor = new Executor({
      ledger: clock.watch(ledger),
      namespace: NAMESPACE,
      protocols: [clock.watchProtocol(mcp20251125())],
      policy: { maxPollIntervalMs: POLL_MS },
      clock,
    });
    await executor.start();
    const call = workCall(server.endpoint, { outcome: 'hold', pollInterval: POLL_MS });
    const id = await accepted(executor, { ...call, callNodeId: 'the same node' });
    await clock.sleep(TEN_MINUTES);
    await clock.during(server.control({ op: 'complete', taskId: 'last' }));
    const { receipt } = await executor.wait(id);
    const passedMs = clock.monotonic();
    const history = await ledger.readHistory(id);
    await executor.stop();
    const findings = await ledger.audit();
    await ledger.close();
    const polls = await asked(server, 'tasks/get', receipt.taskId ?? '');
    return { receipt, passedMs, polls, findings, times: history.map(timed) };
  }
  const timed = ({ at, event, to }: HistoryEntry) => `${at} ${event} ${to}`;

  it('B4 B8 B12: pass in a moment, with every poll that ten minutes have, and the same for the same seed', async () => {
    const before = process.cpuUsage();
    const once = await tenMinutes(7, 'once');
    const { user, system } = process.cpuUsage(before);
    expect(once.receipt.outcome).toBe('completed');
    expect(once.findings).toEqual([]);
    expect(once.passedMs).toBeGreaterThanOrEqual(TEN_MINUTES);
    expect(once.passedMs).toBeLessThan(TEN_MINUTES + 2 * POLL_MS);
    // The server's interval, plus at most the jitter.
    expect(once.polls).toBeLessThanOrEqual(TEN_MINUTES / POLL_MS + 1);
    expect(once.polls).toBeGreaterThan(TEN_MINUTES / POLL_MS / 2);
    // The time of this process, which a busy machine does not stretch: about 1.5 s, most of it looks at the ledger.
    expect((user + system) / 1_000).toBeLessThan(6_000);

    const again = await tenMinutes(7, 'again');
    expect([again.times, again.polls, again.passedMs]).toEqual([once.times, once.polls, once.passedMs]);
    const other = await tenMinutes(8, 'other');
    expect(other.times).not.toEqual(once.times);
  }, 60_000);
});
