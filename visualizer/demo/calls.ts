/** Calls for somebody who looks on: to their end, with a question, and cancelled, one after another. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint, Executor } from '../../machines/index.ts';
import { everythingEntry, TOOL } from './everything.ts';

/** Between two calls, ms. */
const PAUSE_MS = 4_000;
/** Whoever leaves it alone does not come back to a full disk. */
const MOST = 400;

const KINDS = ['plain', 'asks', 'cancelled'] as const;

/** Until the signal aborts. What is in flight then stays in the ledger. */
export async function makeCalls(executor: Executor, signal: AbortSignal): Promise<void> {
  const endpoint: Endpoint = { kind: 'stdio', command: process.execPath, args: [everythingEntry(), 'stdio'] };
  const running = new Set<Promise<void>>();
  let asking = false;
  for (let nth = 0; nth < MOST && !signal.aborted; nth += 1) {
    const kind = KINDS[nth % KINDS.length] as (typeof KINDS)[number];
    // One question at a time: it waits for the human, and the calls go on.
    if (kind === 'asks' && asking) continue;
    if (kind === 'asks') asking = true;
    const call = one(executor, endpoint, kind, nth, signal).finally(() => {
      running.delete(call);
      if (kind === 'asks') asking = false;
    });
    running.add(call);
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await Promise.all(running);
}

async function one(
  executor: Executor,
  endpoint: Endpoint,
  kind: (typeof KINDS)[number],
  nth: number,
  signal: AbortSignal,
): Promise<void> {
  const call = { callNodeId: `demo:${kind}:${nth}`, endpoint, tool: TOOL };
  try {
    const answer = await executor.submit({ ...call, arguments: { topic: 'tides', ambiguous: kind === 'asks' } });
    if (answer.kind === 'refused') throw new Error(`${answer.reason}; ${answer.next}`);
    let cancelled = kind !== 'cancelled';
    for await (const { record } of executor.follow(answer.operationId, signal)) {
      if (record.state.startsWith('PARKED')) return;
      if (cancelled || record.state !== 'WORKING.polling') continue;
      cancelled = true;
      await executor.cancel(answer.operationId, 'demo', 'shown in the demonstration');
    }
  } catch (error) {
    // Whoever leaves takes the server away from the calls.
    if (!signal.aborted) process.stderr.write(`${call.callNodeId}: ${(error as Error).message}\n`);
  }
}
