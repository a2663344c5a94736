/** Plays one line of the table on real parts, and judges what is left of it. */
import { expect } from 'vitest';
import type { Executor, OperationLedger } from '../../../machines/index.ts';
import { eventually, type Rig, accepted as submitted, until, workCall } from '../../support/rig.ts';
import { pathOf } from '../../support/stage.ts';
import type { WireLine } from '../lines.ts';
import type { Play, Scenario } from './scenario.ts';

export interface Stage {
  readonly rig: Rig;
  readonly ledger: OperationLedger;
  readonly line: WireLine;
  readonly executor: Executor;
}

const WITHIN_MS = 40_000;

export async function play(scenario: Scenario, { rig, ledger, line, executor }: Stage): Promise<void> {
  const call = workCall(line.endpoint, scenario.script, scenario.call);
  // Rules are set where a server runs: a stdio server is started by its client.
  await executor.env.connections.fresh(call.endpoint, 'mcp-2025-11-25');
  await line.server.control({ op: 'reset' });
  const fresh = await fromNowOn(line);
  await line.wire.rules(scenario.rules ?? []);
  const id = await submitted(executor, call);
  const hand = handOf({ rig, line: fresh, executor, call, id });
  await scenario.steps?.(hand);
  await judge(scenario, hand, ledger);
}

/** The same line, without what its log tells of the scenarios before. */
async function fromNowOn(line: WireLine): Promise<WireLine> {
  const old = await line.wire.log();
  const log = async () => {
    const { lines, rules } = await line.wire.log();
    return { lines: lines.slice(old.lines.length), rules: rules.slice(old.rules.length) };
  };
  return { ...line, wire: { ...line.wire, log } };
}

function handOf(parts: Pick<Play, 'rig' | 'line' | 'executor' | 'call' | 'id'>): Play {
  const { executor, id, line } = parts;
  return {
    ...parts,
    until: async (state) => {
      await until(executor, id, (current) => isIn(current, state), WITHIN_MS);
    },
    taskId: () => eventually(async () => (await executor.load(id))?.snapshot.context.taskId, WITHIN_MS),
    server: (command) => line.server.control(command),
    rules: (...rules) => line.wire.rules(rules),
    met: async (fate, method, direction, times = 1) => {
      await eventually(async () => {
        const { lines } = await line.wire.log();
        const fitting = lines.filter(
          (met) => met.fate === fate && met.method === method && met.direction === direction,
        );
        return fitting.length >= times;
      }, WITHIN_MS);
    },
  };
}

const isIn = (current: string, state: string) => current === state || current.startsWith(`${state}.`);

async function judge(scenario: Scenario, { executor, id, line }: Play, ledger: OperationLedger): Promise<void> {
  const { ends, path, never = [] } = scenario;
  if ('receipt' in ends) {
    const outcome = await eventually(() => executor.outcome(id), WITHIN_MS);
    expect(outcome.receipt).toMatchObject(ends.receipt);
    expect(outcome.output === null).toBe(!outcome.receipt.released);
  } else {
    const { snapshot } = await until(executor, id, (state) => isIn(state, 'PARKED'), WITHIN_MS);
    expect(snapshot.context.parked?.reason).toBe(ends.parked);
    // Whatever was on its way has come by now; it changes nothing.
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await ledger.readReceipt(id)).toBeNull();
  }
  const states = await pathOf(ledger, id);
  expect(missingFrom(states, path), `of ${states.join(', ')}`).toEqual([]);
  expect(states.filter((state) => never.some((region) => isIn(state, region)))).toEqual([]);
  const unmet = (await line.wire.log().catch(() => ({ rules: [] }))).rules.filter(({ hits }) => hits === 0);
  expect(unmet, 'rules that met nothing').toEqual([]);
  await judgeServer(scenario, executor, id, line);
  if ('parked' in ends) {
    // What nobody can know is closed in writing, and polled by nobody while the next scenario plays.
    await executor.reconcile(id, 'tester', { verb: 'give-up', note: 'end of the scenario' });
    expect((await eventually(() => executor.outcome(id), WITHIN_MS)).receipt.outcome).toBe('given_up');
  }
  expect(await ledger.audit()).toEqual([]);
}

/** What of the path is not there in its order. */
function missingFrom(states: readonly string[], path: readonly string[]): readonly string[] {
  let from = 0;
  return path.filter((wanted) => {
    const at = states.findIndex((state, index) => index >= from && isIn(state, wanted));
    if (at < 0) return true;
    from = at + 1;
    return false;
  });
}

/** One tools/call at most, one run at most; a server that died with its pipe cannot be asked. */
async function judgeServer(scenario: Scenario, executor: Executor, id: string, { server }: WireLine): Promise<void> {
  const log = await server.log().catch(() => null);
  if (log === null) {
    expect(scenario.ends).toEqual({ parked: 'server-gone' });
    return;
  }
  const context = (await executor.load(id))?.snapshot.context;
  const ours = log.requests.filter(({ method, taskId, meta }) =>
    method === 'tools/call' ? meta['dev.toolop/submission-key'] === context?.submissionKey : taskId === context?.taskId,
  );
  const count = (method: string) =>
    method === 'answers'
      ? log.answers.filter(({ taskId }) => taskId === context?.taskId).length
      : method.startsWith('tasks/') || method === 'tools/call'
        ? ours.filter((request) => request.method === method).length
        : (log.counts[method] ?? 0);
  for (const [method, wanted] of Object.entries({ 'tools/call': 1, ...scenario.seen })) {
    const [atLeast, atMost] = typeof wanted === 'number' ? [wanted, wanted] : wanted;
    expect(count(method), method).toBeGreaterThanOrEqual(atLeast);
    expect(count(method), method).toBeLessThanOrEqual(atMost);
  }
  expect(log.executions).toBeLessThanOrEqual(1);
}
