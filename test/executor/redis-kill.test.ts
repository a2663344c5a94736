/**
 * `kill -9` of Redis in every atomic state. Each operation is held right after the acknowledged commit that enters its
 * state, so that the kill hits that state and no other; its executor then meets the outage with that state's effect, and
 * goes on by itself. Operations in several states meet one kill together.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { Executor, type OperationLedger } from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import type { Act } from '../support/executor-process.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { NAMESPACE, workCall } from '../support/rig.ts';
import { approvalOf, comeToRest, disagreements, prepare, STORIES, type Story } from '../support/stories.ts';

/** States that meet one kill together, each with a server of its own. */
const TOGETHER = 10;
const OUTAGE_MS = 700;

/** The stories end without the executor that began them; here it lives, and with it what only it knows. */
const LIVES: Readonly<Record<string, Pick<Story, 'ends'> & Partial<Story>>> = {
  'SUBMITTING.sending': { ends: { receipt: 'completed' } },
  'INPUT_REQUIRED.awaiting': { ends: { receipt: 'completed' }, answerWith: { word: 'yes' } },
  'INPUT_REQUIRED.replied': { ends: { receipt: 'completed' } },
  'INPUT_REQUIRED.sending': { ends: { receipt: 'completed' } },
};
const stories = STORIES.map((story): Story => {
  const lives = { ...story, ...LIVES[story.state] };
  // No deadline of a human is used up by waiting for the other operations, unless the story is about one.
  return story.state === 'INPUT_REQUIRED.expired'
    ? lives
    : { ...lives, policy: { ...lives.policy, inputDeadlineMs: 60_000 } };
});
const kills = Array.from({ length: Math.ceil(stories.length / TOGETHER) }, (_, index) => ({
  states: stories.slice(index * TOGETHER, (index + 1) * TOGETHER),
}));

/** A moment that everybody who waits for it gets to see. */
function moment(): { readonly come: () => void; readonly happened: Promise<void> } {
  let come = (): void => undefined;
  const happened = new Promise<void>((resolve) => {
    come = resolve;
  });
  return { come, happened };
}

/** The ledger itself, but the acknowledgement of the first step into `state` waits. */
function holding(ledger: OperationLedger, state: string, reached: () => void, goOn: Promise<void>): OperationLedger {
  const steps: ReadonlySet<string | symbol> = new Set(['create', 'commit', 'acceptTerminal']);
  let held = false;
  return new Proxy(ledger, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (!steps.has(name)) return member.bind(target);
      return async (step: { readonly state: string }, ...more: unknown[]) => {
        const answer = (await member.call(target, step, ...more)) as { readonly kind: string };
        if (!held && step.state === state && /^(created|committed|accepted)$/.test(answer.kind)) {
          held = true;
          reached();
          await goOn;
        }
        return answer;
      };
    },
  });
}

describe('kill -9 of Redis', () => {
  let redis: RedisServer;
  let witness: OperationLedger;
  let servers: readonly ScriptedServer[] = [];
  let addresses = 0;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    witness = await ledger();
    servers = await Promise.all(Array.from({ length: TOGETHER }, () => startScriptedServer()));
  }, 60_000);
  afterEach(async () => {
    await Promise.all(closers.splice(0).map((close) => close().catch(() => undefined)));
  });
  afterAll(async () => {
    await witness.close();
    await Promise.all(servers.map((server) => server.stop()));
    await redis?.stop();
  });

  const ledger = () => openLedger(redis.url, { namespace: NAMESPACE, attemptMs: 500, definiteWithinMs: 20_000 });

  async function perform(act: Act, executor: Executor, id: string, server: ScriptedServer): Promise<unknown> {
    if (act.kind === 'cancel') return executor.cancel(id, 'the caller');
    if (act.kind === 'reconcile') return executor.reconcile(id, 'operator', act.what);
    return server.control(act.command);
  }

  /** Brings one call to its state, where it stays until `goOn`. */
  async function enter(story: Story, server: ScriptedServer, goOn: Promise<void>) {
    await prepare(server, story);
    const { come, happened } = moment();
    const opened = await ledger();
    const executor = new Executor({
      ledger: holding(opened, story.state, come, goOn),
      namespace: NAMESPACE,
      protocols: [mcp20251125()],
      leaseMs: 1_500,
      requestTimeoutMs: 8_000,
      rate: { qps: 1_000, burst: 1_000 },
      ...approvalOf(story),
    });
    closers.push(async () => {
      await executor.stop();
      await opened.close();
    });
    // Nobody begins what is queued: its creator serves nothing until Redis is back.
    const onlyCreates = story.state === 'SUBMITTING.queued';
    if (!onlyCreates) await executor.start();
    const acts = new Set(story.acts);
    const failed = new Promise<never>((_, reject) => {
      executor.env.store.onCommit(({ record }) => {
        for (const act of acts) {
          if (act.at !== record.state) continue;
          acts.delete(act);
          perform(act, executor, record.operationId, server).catch(reject);
        }
      });
    });
    const endpoint = { kind: 'http' as const, url: `${server.url}/${addresses++}` };
    const call = workCall(endpoint, story.script, { policy: story.policy });
    const submitted = executor.submit(call);
    const late = delay(40_000, null, { ref: false }).then(() => Promise.reject(new Error(`never in ${story.state}`)));
    await Promise.race([happened, failed, late, submitted.then(() => happened)]);
    return { story, server, executor, id: executor.operationIdOf(call), submitted };
  }

  it.each(kills.map(({ states }) => ({ states, names: states.map(({ state }) => state).join(', ') })))(
    'in $names: nothing acknowledged is lost, no restart is needed, one tools/call, the end of each story',
    async ({ states }) => {
      const { come: goOn, happened } = moment();
      closers.push(async () => goOn());
      const scenes = await Promise.all(
        states.map((story, index) => enter(story, servers[index] as ScriptedServer, happened)),
      );
      const before = await Promise.all(
        scenes.map(async ({ id, story }) => {
          const record = await witness.load(id);
          expect(record?.state).toBe(story.state);
          return { record, history: await witness.readHistory(id) };
        }),
      );
      await redis.kill('SIGKILL');
      goOn();
      await delay(OUTAGE_MS);
      await redis.restart();
      // The connection of each may still hear the refusal of its last attempt.
      for (const { executor } of scenes) await vi.waitFor(() => executor.start(), { timeout: 10_000, interval: 50 });
      for (const { server, story } of scenes) {
        for (const control of [...story.heal, ...story.finish]) await server.control(control);
      }

      await Promise.all(
        scenes.map(async ({ story, server, executor, id, submitted }, index) => {
          const told = `the operation that was in ${story.state}`;
          const rest = await comeToRest(executor, id, story.ends);
          expect(rest.ending, told).toEqual(story.ends);
          expect(await disagreements(server, rest), told).toEqual([]);
          expect(await submitted, told).toMatchObject({ kind: 'accepted', operationId: id });
          const history = await witness.readHistory(id);
          const { record, history: acknowledged } = before[index] ?? { record: null, history: [] };
          expect(acknowledged.at(-1)?.to, told).toBe(story.state);
          expect(history.slice(0, acknowledged.length), told).toEqual(acknowledged);
          const now = await witness.load(id);
          expect(Number(now?.revision), told).toBeGreaterThanOrEqual(Number(record?.revision));
          expect((await server.log()).answers.length, told).toBeLessThanOrEqual(1);
        }),
      );
      expect(await witness.audit()).toEqual([]);
    },
    180_000,
  );
});
