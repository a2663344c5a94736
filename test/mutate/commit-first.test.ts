/**
 * What has to be committed is committed before anything else happens: the commit is kept waiting, and nothing may have left.
 * `npm run mutate` swaps each of these orders.
 */
import { afterEach, describe, expect, it } from 'vitest';
import {
  consumeReady,
  type Endpoint,
  type Executor,
  type ExecutorOptions,
  type InputReply,
} from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import type { Script, ScriptedOptions, ScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { accepted, eventually, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';
import { HeldLedger, type LedgerCall } from './held-ledger.ts';

const YES: InputReply = { action: 'accept', content: { word: 'yes' } };
const ANSWERING: Partial<ExecutorOptions> = { approval: { ask: async () => YES } };
/** Long enough for whatever does not wait for the commit. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 80));

const committing = (state: string) => (call: LedgerCall) => call.method === 'commit' && call.state === state;
const requests = (method: string) => async (server: ScriptedServer) => (await server.log()).counts[method] ?? 0;

interface Order {
  readonly title: string;
  /** The commit that is kept waiting. */
  readonly commit: (call: LedgerCall, held: HeldLedger) => boolean;
  readonly script: Script;
  readonly server?: Partial<ScriptedOptions>;
  readonly options?: Partial<ExecutorOptions>;
  /** Before the call is made. */
  readonly before?: (server: ScriptedServer) => Promise<void>;
  /** Once the task works. */
  readonly whenWorking?: (executor: Executor, operationId: string, server: ScriptedServer) => void | Promise<void>;
  /** How often the effect was seen by the server. */
  readonly seen: (server: ScriptedServer) => Promise<number>;
}

const cancelled: Order['whenWorking'] = (executor, id) => {
  void executor.cancel(id).catch(() => undefined);
};
const COMMITS: readonly Order[] = [
  {
    title: 'B4: the call is sent once the record says that it may have been',
    commit: committing('SUBMITTING.sending'),
    script: { ms: 10 },
    seen: requests('tools/call'),
  },
  {
    title: 'B13 G2: the next attempt is sent once it is on the queue',
    commit: committing('SUBMITTING.queued'),
    script: { ms: 10 },
    server: { lookup: true },
    before: (server) => server.control({ op: 'fault', kind: 'resetBefore', method: 'tools/call' }),
    seen: async (server) => (await server.log()).created.length,
  },
  {
    title: 'B4: a lost call is looked up once the record says that it is lost',
    commit: committing('SUBMISSION_UNKNOWN'),
    script: { ms: 10 },
    server: { lookup: true },
    before: (server) => server.control({ op: 'fault', kind: 'reset', method: 'tools/call' }),
    seen: requests('dev.toolop/lookup'),
  },
  {
    title: 'B13: an unknown id is looked up once the record says that it is unknown',
    commit: committing('CLASSIFYING_NOT_FOUND'),
    script: { outcome: 'hold' },
    server: { lookup: true },
    whenWorking: (_executor, _id, server) => server.control({ op: 'forget', taskId: 'last' }),
    seen: requests('dev.toolop/lookup'),
  },
  {
    title: 'B11: the result is fetched once the outcome is on record',
    commit: committing('TERMINAL_OBSERVED.outcome'),
    script: { ms: 10 },
    seen: requests('tasks/result'),
  },
  {
    title: 'B7: the channel for questions is opened once the record says that one is announced',
    commit: committing('WORKING.listening'),
    script: { ask: 1 },
    options: ANSWERING,
    seen: requests('tasks/result'),
  },
  {
    title: 'B7: an answer is written once the ledger has it',
    commit: committing('INPUT_REQUIRED.replied'),
    script: { ask: 1 },
    options: ANSWERING,
    seen: async (server) => (await server.log()).answers.length,
  },
  {
    title: 'B7: an answer is written once the record says that it may have been',
    commit: committing('INPUT_REQUIRED.sending'),
    script: { ask: 1 },
    options: ANSWERING,
    seen: async (server) => (await server.log()).answers.length,
  },
  {
    title: 'B9: a cancel is sent once its intent is on record',
    commit: committing('CANCEL_REQUESTED.sending'),
    script: { outcome: 'hold' },
    whenWorking: cancelled,
    seen: requests('tasks/cancel'),
  },
];

/** The first place in the rate that is asked for after a state was committed. */
const permitAfter = (state: string) => (call: LedgerCall, held: HeldLedger) =>
  call.method === 'takePermit' && held.calls.some((earlier) => earlier.state === state);
const PERMITS: readonly Order[] = [
  {
    title: 'the call',
    commit: permitAfter('SUBMITTING.queued'),
    script: { ms: 10 },
    seen: requests('tools/call'),
  },
  {
    title: 'the status',
    commit: permitAfter('WORKING.polling'),
    script: { ms: 10 },
    seen: requests('tasks/get'),
  },
  {
    title: 'the look-up',
    commit: permitAfter('SUBMISSION_UNKNOWN'),
    script: { ms: 10 },
    server: { lookup: true },
    before: (server) => server.control({ op: 'fault', kind: 'reset', method: 'tools/call' }),
    seen: requests('dev.toolop/lookup'),
  },
  {
    title: 'the result',
    commit: permitAfter('TERMINAL_OBSERVED.outcome'),
    script: { ms: 10 },
    seen: requests('tasks/result'),
  },
  {
    title: 'the channel for questions',
    commit: permitAfter('WORKING.listening'),
    script: { ask: 1 },
    options: ANSWERING,
    seen: requests('tasks/result'),
  },
  {
    title: 'a cancel',
    commit: (call, held) => permitAfter('CANCEL_REQUESTED.sending')(call, held) && call.args[3] === 'next',
    script: { outcome: 'hold' },
    whenWorking: cancelled,
    seen: requests('tasks/cancel'),
  },
];

describe('commit first', () => {
  const stage = useStage('embedded');
  const ledgers: HeldLedger[] = [];
  const heldLedger = async () => {
    const held = new HeldLedger(await stage().rig.ledger());
    ledgers.push(held);
    return held;
  };
  let addresses = 0;
  /** An address of the server that no executor of another test serves. */
  const addressOf = ({ url }: ScriptedServer): Endpoint => ({ kind: 'http', url: `${url}/${addresses++}` });
  // Before the executors are stopped, which wait for what they do.
  afterEach(() => {
    for (const held of ledgers.splice(0)) held.letThrough();
  });

  async function holds(order: Order): Promise<void> {
    const server = await stage().server(order.server);
    await order.before?.(server);
    const held = await heldLedger();
    const executor = await stage().rig.executor({ ...order.options, ledger: held.ledger });
    const kept = held.hold((call) => order.commit(call, held));
    const id = await accepted(executor, workCall(addressOf(server), order.script));
    if (order.whenWorking) {
      await until(executor, id, (state) => state === 'WORKING.polling');
      await order.whenWorking(executor, id, server);
    }
    await kept.asked;
    await pause();
    expect(await order.seen(server)).toBe(0);
    kept.letThrough();
    await eventually(async () => (await order.seen(server)) > 0);
  }

  it.each(COMMITS.map((order) => [order.title, order] as const))('%s', (_, order) => holds(order));
  it.each(PERMITS.map((order) => [order.title, order] as const))(
    'B8 G3: %s is asked for once the rate has a place for it',
    (_, order) => holds(order),
  );

  it('B4: the caller has an id once the record is created', async () => {
    const server = await stage().server();
    const held = await heldLedger();
    const executor = await stage().rig.executor({ ledger: held.ledger });
    const kept = held.hold(({ method }) => method === 'create');
    let answered = false;
    const submitted = executor.submit(workCall(addressOf(server), { ms: 10 })).finally(() => {
      answered = true;
    });
    await kept.asked;
    await pause();
    expect(answered).toBe(false);
    kept.letThrough();
    expect(await submitted).toMatchObject({ kind: 'accepted' });
  });

  it('F9: an id is taken for ours once the ledger says whose it is', async () => {
    const server = await stage().server();
    const held = await heldLedger();
    const executor = await stage().rig.executor({ ledger: held.ledger });
    const kept = held.hold(({ method }) => method === 'ownTask');
    const id = await accepted(executor, workCall(addressOf(server), { ms: 10 }));
    await kept.asked;
    await pause();
    expect(held.calls.map(({ state }) => state)).not.toContain('WORKING.polling');
    kept.letThrough();
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
  });

  it('B12 G6: those who follow hear of a state once it is committed', async () => {
    const server = await stage().server();
    const held = await heldLedger();
    const executor = await stage().rig.executor({ ledger: held.ledger });
    const kept = held.hold(({ method }) => method === 'acceptTerminal');
    const id = await accepted(executor, workCall(addressOf(server), { ms: 10 }));
    const heard: string[] = [];
    const following = (async () => {
      for await (const { snapshot } of executor.follow(id)) heard.push(statePath(snapshot));
    })();
    await kept.asked;
    await pause();
    expect(heard).not.toContain('ACCEPTED');
    kept.letThrough();
    await following;
    expect(heard).toContain('ACCEPTED');
  });

  it('G6: a ready row is acknowledged once it was acted on', async () => {
    const server = await stage().server();
    const held = await heldLedger();
    const executor = await stage().rig.executor();
    const id = await accepted(executor, workCall(addressOf(server), { ms: 10 }));
    await executor.wait(id);
    const kept = held.hold(({ method }) => method === 'ackReady');
    const handled: string[] = [];
    const stop = new AbortController();
    const consuming = consumeReady(
      {
        ledger: held.ledger,
        consumer: 'one',
        handle: async ({ receipt }) => {
          handled.push(receipt.operationId);
        },
      },
      stop.signal,
    );
    await kept.asked;
    expect(handled.length).toBeGreaterThan(0);
    kept.letThrough();
    await eventually(async () => handled.includes(id));
    stop.abort();
    await consuming;
  });

  it('R3: a newer epoch works on a record once the record is its own', async () => {
    const server = await stage().server();
    const old = await stage().rig.executor({ executionEpoch: 1 });
    const endpoint = addressOf(server);
    const id = await accepted(old, workCall(endpoint, { outcome: 'hold' }));
    await until(old, id, (state) => state === 'WORKING.polling');
    await old.stop();
    await server.control({ op: 'reset' });
    const held = await heldLedger();
    const kept = held.hold(
      ({ method, args }) =>
        method === 'commit' && (args[0] as { history: { event: string } | null }).history?.event === 'epoch.adopt',
    );
    await stage().rig.executor({ executionEpoch: 2, endpoints: [endpoint], ledger: held.ledger });
    await kept.asked;
    await pause();
    expect(await requests('tasks/get')(server)).toBe(0);
    kept.letThrough();
    await eventually(async () => (await requests('tasks/get')(server)) > 0);
  });

  it('a process serves once the ledger knows that it lives', async () => {
    const held = await heldLedger();
    const kept = held.hold(({ method }) => method === 'heartbeat');
    const starting = stage().rig.executor({ ledger: held.ledger });
    await kept.asked;
    await pause();
    expect(held.calls.map(({ method }) => method)).not.toContain('claimDue');
    kept.letThrough();
    await starting;
    await eventually(async () => held.calls.some(({ method }) => method === 'claimDue'));
  });
});
