/** Servers slower than the lease, and executors that are stopped (SIGSTOP) in the middle of an effect and continued. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually, FAST, LEDGERS, until, workCall } from '../support/rig.ts';
import type { Script } from '../support/scripted-server.ts';
import { callsSeen, pathOf, useStage } from '../support/stage.ts';

const LEASE_MS = 300;

describe.each(LEDGERS)('slowness on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it('a server whose every answer takes three leases: the operation ends, nothing is polled twice at once', async () => {
    const server = await stage().server();
    for (const method of ['tools/call', 'tasks/get', 'tasks/result']) {
      await server.control({ op: 'fault', kind: 'delay', ms: 3 * LEASE_MS, method, times: 100 });
    }
    const call = workCall(server.endpoint, { ms: 1_500 });
    const executors = await Promise.all(
      [0, 1].map(() =>
        stage().rig.executor({ leaseMs: LEASE_MS, requestTimeoutMs: 10_000, endpoints: [server.endpoint] }),
      ),
    );
    const [first] = executors;
    if (!first) throw new Error('no executor');
    const answer = await first.submit(call);
    expect(answer.kind).toBe('accepted');
    const id = first.operationIdOf(call);
    const { receipt } = await eventually(() => first.outcome(id), 25_000);
    expect(receipt.outcome).toBe('completed');
    const { requests, counts } = await server.log();
    expect(counts['tools/call']).toBe(1);
    const polls = requests.filter(({ method }) => method === 'tasks/get').map(({ at }) => at);
    for (const [index, at] of polls.entries()) {
      // An answer takes three leases: a poll that starts earlier than that after the one before overlaps it.
      if (index > 0) expect(at - (polls[index - 1] ?? 0)).toBeGreaterThanOrEqual(3 * LEASE_MS - 50);
    }
  });

  const stops: readonly {
    readonly effect: string;
    readonly method: string;
    readonly script: Script;
    readonly ends: RegExp;
    readonly cancel?: boolean;
  }[] = [
    { effect: 'submit', method: 'tools/call', script: { ms: 20 }, ends: /^(ACCEPTED|PARKED\.)/ },
    { effect: 'poll', method: 'tasks/get', script: { ms: 20 }, ends: /^ACCEPTED$/ },
    { effect: 'fetchResult', method: 'tasks/result', script: { ms: 20 }, ends: /^ACCEPTED$/ },
    {
      effect: 'sendCancel',
      method: 'tasks/cancel',
      script: { outcome: 'hold' },
      ends: /^CANCELLED_ACCEPTED$/,
      cancel: true,
    },
  ];
  it.each(stops)(
    'the owner is stopped for ten leases in the middle of $effect and continued: no second tools/call',
    async ({ method, script, ends, cancel }) => {
      const server = await stage().server();
      await server.control({ op: 'fault', kind: 'delay', ms: 2 * LEASE_MS, method });
      const call = workCall(server.endpoint, script);
      const owner = stage().process({ call, leaseMs: LEASE_MS, policy: FAST });
      const reader = await stage().rig.executor();
      const id = reader.operationIdOf(call);
      if (cancel) {
        await until(reader, id, (state) => state === 'WORKING.polling');
        await reader.cancel(id);
      }
      await eventually(async () => ((await server.log()).counts[method] ?? 0) >= 1, 15_000);
      // Opened before the stop, and not waited for during it: a process that is stopped inside a transaction of the
      // embedded ledger holds its lock until it goes on.
      const ledger = await stage().rig.ledger();
      owner.signal('SIGSTOP');
      const starting = stage().rig.executor({ ledger, leaseMs: LEASE_MS, endpoints: [server.endpoint] });
      await delay(10 * LEASE_MS);
      owner.signal('SIGCONT');
      const other = await starting;
      await until(other, id, (state) => ends.test(state), 15_000);
      if (method === 'tools/call') {
        // What the stopped sender brings back late is evidence: the parked operation goes on to its end.
        await until(other, id, (state) => state === 'ACCEPTED', 15_000);
      }
      expect(await callsSeen(server)).toBe(1);
      expect(await stage().ledger.audit()).toEqual([]);
      if (method === 'tools/call') expect(await pathOf(stage().ledger, id)).toContain('SUBMISSION_UNKNOWN');
      await owner.stop();
    },
  );
});
