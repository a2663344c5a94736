/**
 * G6: every downstream advance leads back to a terminal receipt, and every receipt to what the protocol said. Operations
 * end in all the ways there are; each row that consumers were handed is walked back to the servers' own logs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { digestOf } from '../../machines/digest.ts';
import { readOutcome, type TerminalReceipt } from '../../machines/index.ts';
import { settle, standings } from '../chaos/judge.ts';
import { type CallHistory, check } from '../kit/checker.ts';
import { type Delivery, drainOutbox, recordHistory } from '../kit/record.ts';
import type { ScriptedLog } from '../kit/servers/mcp-2025-11-25/options.ts';
import { Random } from '../support/random.ts';
import { Field } from './field/field.ts';
import { lifeOf, SERVERS } from './g1/lives.ts';
import { FAST } from './g1/real.ts';
import { few, type Judged, type Run, whole } from './gate.ts';

const OUTCOMES = ['completed', 'failed', 'cancelled', 'not_submitted', 'given_up'];

export function g6({ sizes, seed, signal, progress }: Run): Promise<Judged> {
  const random = new Random(seed);
  const executor = {
    policy: FAST,
    leaseMs: 2_000,
    requestTimeoutMs: 1_000,
    rate: { qps: 2_000, burst: 2_000 },
    approval: {
      ask: async ({ request }: { request: { message: string } }) => ({
        action: 'accept' as const,
        content: { word: request.message },
      }),
    },
  };
  return Field.play({ servers: SERVERS, executors: 3, executor }, signal, async (field) => {
    const consumers = new AbortController();
    const deliveries: Delivery[] = [];
    const consuming = Promise.all(
      field.executors.map((_, nth) => consume(field, `consumer ${nth}`, deliveries, consumers.signal)),
    );
    const lives = Array.from({ length: sizes.walked }, (_, nth) => lifeOf(seed + nth, 3));
    await Promise.all(
      lives.map(async (life, nth) => {
        await sleep(random.between(0, 1_500), undefined, { signal });
        const executor = field.executor(nth);
        const call = field.call(life.server, life.script, life.more);
        const answer = await executor.submit(call);
        if (answer.kind === 'refused') throw new Error(answer.reason);
        // Some at once: nothing was sent yet.
        const [cancel] = life.cancels;
        if (nth % 10 === 0) await executor.cancel(answer.operationId);
        else if (cancel) {
          await sleep(cancel.afterMs);
          await field.executor(cancel.by).cancel(answer.operationId);
        }
      }),
    );
    await Promise.all(field.servers.map((server) => server.calm()));
    await settle(field.ledger, field.servers, 30_000, (count) => {
      signal.throwIfAborted();
      progress(`${count} not at rest`);
    });
    await reconcileAll(field);
    await settle(field.ledger, field.servers, 30_000, () => signal.throwIfAborted());
    consumers.abort();
    await consuming;
    deliveries.push(...(await drainOutbox(field.ledger)));

    const history = await recordHistory({ ledger: field.ledger, servers: field.servers, deliveries, settled: false });
    const logs = await Promise.all(field.servers.map((server) => server.log()));
    const problems: string[] = [];
    const found: Record<string, number> = {};
    let proven = 0;
    for (const { operationId, outcome } of deliveries) {
      const { receipt } = outcome;
      const text = await field.ledger.readReceipt(operationId);
      const call = history.calls.find(({ callNode }) => callNode === receipt.callNodeId);
      const problem =
        text === null || digestOf(JSON.parse(text)) !== digestOf(receipt as never)
          ? 'what was handed out is not the receipt'
          : missing(receipt, call, logs);
      found[receipt.outcome] = (found[receipt.outcome] ?? 0) + 1;
      if (problem === null) proven++;
      else problems.push(`${receipt.callNodeId} (${receipt.outcome}): ${problem}`);
    }
    problems.push(
      ...(await field.ledger.audit()).map(({ operationId, problem }) => `audit: ${operationId} ${problem}`),
    );
    problems.push(...check(history).map(({ row, callNode, what }) => `${row} ${callNode}: ${what}`));
    const receipts = history.calls.filter(({ ledger }) => ledger.receipts.length > 0).length;
    if (receipts !== new Set(deliveries.map(({ operationId }) => operationId)).size)
      problems.push(`${receipts} receipts, and not as many operations in the outbox`);
    const share = deliveries.length === 0 ? 0 : (100 * proven) / deliveries.length;
    return {
      ran: 'outbox entries, walked back',
      count: deliveries.length,
      figure: `${share === 100 ? '100' : share.toFixed(2)} %`,
      limit: '100 %',
      pass: share === 100 && problems.length === 0,
      notes: [
        `${whole(receipts)} receipts: ${OUTCOMES.map((word) => `${word} ${found[word] ?? 0}`).join(', ')}`,
        ...few(problems),
      ],
    };
  });
}

/** Acts on ready rows as a downstream would. */
async function consume(field: Field, name: string, deliveries: Delivery[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const row of await field.ledger.leaseReady(name, 16, 5_000)) {
      const outcome = await readOutcome(field.ledger, row.operationId);
      if (!outcome) continue;
      const acknowledged = await field.ledger.ackReady(row, name);
      deliveries.push({ operationId: row.operationId, outcome, acknowledged });
    }
    await sleep(100, undefined, { signal }).catch(() => undefined);
  }
}

/** What is parked for good is ended by hand: the task is shown, the end is stated, or it is given up. */
async function reconcileAll(field: Field): Promise<void> {
  const tasks = (await Promise.all(field.servers.map((server) => server.tasks()))).flat();
  for (const [nth, { operationId, context }] of (await standings(field.ledger)).entries()) {
    if (context.parked === null) continue;
    const task = tasks.find(({ script }) => script.callNode === context.callNodeId);
    const executor = field.executor(nth);
    const attach = task !== undefined && context.taskId === null;
    if (
      attach &&
      (await executor.reconcile(operationId, 'operator', { verb: 'attach', taskId: task.taskId })).kind === 'taken'
    )
      continue;
    await executor.reconcile(operationId, 'operator', { verb: 'give-up', note: 'nobody can tell' });
  }
}

/** What a receipt rests on and is not there; `null`: all is. */
function missing(receipt: TerminalReceipt, call: CallHistory | undefined, logs: readonly ScriptedLog[]): string | null {
  if (!call) return 'there is no record';
  const { server, ledger } = call;
  const asked = (method: string) =>
    logs.some(({ requests }) => requests.some((one) => one.method === method && one.taskId === receipt.taskId));
  const task = server.tasks.find(({ taskId }) => taskId === receipt.taskId);
  switch (receipt.outcome) {
    case 'completed':
    case 'failed': {
      const held = receipt.taskId === null ? server.immediate : (task?.stored ?? []);
      if (!held.some((value) => digestOf(value as never) === receipt.resultDigest))
        return 'the server has no such result';
      if (receipt.taskId === null) return server.calls.length > 0 ? null : 'the server was never called';
      if (!task?.ended.includes(receipt.outcome)) return `on the server the task is ${task?.ended.join(', ')}`;
      if (!asked('tasks/result')) return 'nobody fetched the result';
      return null;
    }
    case 'cancelled':
      if (receipt.taskId === null) return 'a cancel without a task';
      if (!task?.ended.includes('cancelled')) return `on the server the task is ${task?.ended.join(', ')}`;
      return server.cancels.length > 0 ? null : 'the server was never asked to cancel';
    case 'not_submitted':
      return server.tasks.length === 0 && server.executions === 0 ? null : 'the server has made something';
    case 'given_up':
      return ledger.steps.some(({ event }) => event === 'reconcile.giveUp') && receipt.reason !== null
        ? null
        : 'nobody gave it up';
  }
}
