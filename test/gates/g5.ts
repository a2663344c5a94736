/**
 * G5: how long an operation stays UNKNOWN. Replies to submissions are lost, look-ups fail for a while, tasks are forgotten;
 * measured from the step that made the outcome unknown to the verdict, or to the record that hands it to a human.
 * All waiting is the default policy's, divided by a stated scale; so is the limit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_POLICY } from '../../machines/actor/call.ts';
import type { HistoryEntry } from '../../machines/operation-ledger.ts';
import { openTasks, standings, unrest } from '../chaos/judge.ts';
import { Random } from '../support/random.ts';
import type { Deed, DeedKind, GateScript } from './field/deeds.ts';
import { Field } from './field/field.ts';
import { few, type Judged, percentile, type Run, whole } from './gate.ts';

const LIMIT_MS = 15 * 60_000;
const LOST: readonly DeedKind[] = ['lostBefore', 'lostReply', 'truncated', 'silence'];
/** Look-up that answers; none; one that is away for longer than its budget; none, and its tasks are forgotten. */
const SERVERS = [{ lookup: true }, {}, { lookup: true, describe: 'away' }, { describe: 'forgets' }];
const UNKNOWN = new Set(['SUBMISSION_UNKNOWN', 'CLASSIFYING_NOT_FOUND', 'PARKED']);

export function g5({ sizes, seed, signal, progress }: Run): Promise<Judged> {
  const { scale } = sizes;
  const scaled = (ms: number, least = 1) => Math.max(least, Math.round(ms / scale));
  const { jitter, ...times } = DEFAULT_POLICY;
  const policy = Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, scaled(ms, 10)]));
  const executor = {
    // A task that works for long is not what is measured.
    policy: { ...policy, jitter, waitBudgetMs: 600_000 },
    leaseMs: scaled(30_000, 1_000),
    requestTimeoutMs: scaled(30_000, 500),
    rate: { qps: 1_000, burst: 1_000 },
  };
  return Field.play({ servers: SERVERS, executors: 3, executor }, signal, async (field) => {
    const random = new Random(seed);
    const calls = Array.from({ length: sizes.unknown }, (_, nth) => {
      const server = nth % SERVERS.length;
      return field.call(server, scriptOf(random, nth, server));
    });
    const ids = await Promise.all(
      calls.map(async (call, nth) => {
        await sleep(random.between(0, 2_000), undefined, { signal });
        const answer = await field.executor(nth).submit(call);
        if (answer.kind === 'refused') throw new Error(answer.reason);
        return answer.operationId;
      }),
    );
    const forgetful = field.servers[3];
    const itsOwn = ids.filter((_, nth) => nth % SERVERS.length === 3).length;
    while (((await forgetful?.log())?.created.length ?? 0) < itsOwn) await sleep(100, undefined, { signal });
    for (const { taskId } of (await forgetful?.tasks()) ?? []) await forgetful?.control({ op: 'forget', taskId });
    // The server that is away comes back once all its operations were handed on.
    const limit = LIMIT_MS / scale;
    const end = Date.now() + limit + 10_000;
    const away = new Set(ids.filter((_, nth) => nth % SERVERS.length === 2));
    const parked = async () =>
      (await standings(field.ledger)).filter(
        ({ operationId, state }) => away.has(operationId) && state.startsWith('PARKED'),
      ).length;
    while ((await parked()) < away.size && Date.now() < end) await sleep(200, undefined, { signal });
    const handedOn = await parked();
    await Promise.all(field.servers.map((server) => server.calm()));
    const restless = async () => {
      const open = await openTasks(field.servers);
      return (await standings(field.ledger)).flatMap((standing) => {
        const why = standing.context.parked?.reason === 'unknown-id' ? null : unrest(standing, open);
        return why === null ? [] : [`${standing.context.callNodeId}: ${why}`];
      });
    };
    for (let left = await restless(); left.length > 0 && Date.now() < end; left = await restless()) {
      progress(`${left.length} of ${ids.length} operations not at rest`);
      await sleep(200, undefined, { signal });
    }

    const took: number[] = [];
    const handed: number[] = [];
    const troubles: string[] = handedOn < away.size ? [`only ${handedOn} of ${away.size} were handed on`] : [];
    for (const { operationId, state, context } of await standings(field.ledger)) {
      const waits = unknownTimes(await field.ledger.readHistory(operationId));
      if (waits.length === 0) continue;
      for (const { ms, parked: isHanded } of waits) (isHanded ? handed : took).push(ms);
      if (!state.startsWith('PARKED')) continue;
      const request = await field.ledger.readPayload(operationId, context.requestDigest);
      if (context.parked?.note == null || request === null || context.submissionKey === '')
        troubles.push(`${context.callNodeId} is parked without its evidence`);
    }
    const worst = Math.max(...took, ...handed);
    troubles.push(...(await restless()));
    return {
      ran: 'times that an outcome was unknown',
      count: took.length + handed.length,
      figure: `longest ${whole(worst)} ms, as ${((worst * scale) / 60_000).toFixed(1)} min`,
      limit: `< ${whole(limit)} ms (15 min / ${scale})`,
      pass: took.length > 0 && handed.length > 0 && worst < limit && troubles.length === 0,
      notes: [
        `${ids.length} operations, all waiting divided by ${scale}: ${took.length} verdicts (p50 ${whole(percentile(took, 0.5))} ms, longest ${whole(Math.max(...took))} ms), ${handed.length} handed to a human (longest ${whole(Math.max(...handed))} ms)`,
        ...few(troubles),
      ],
    };
  });
}

function scriptOf(random: Random, nth: number, server: number): GateScript {
  const forgets = server === 3;
  const lost: Deed[] = forgets ? [] : [{ method: 'tools/call', nth: 1, kind: random.pick(LOST), ms: 0 }];
  const failing = server === 2 ? 1_000 : server === 0 ? random.between(0, 2) : 0;
  const away = Array.from(
    { length: failing },
    (_, index): Deed => ({
      method: 'dev.toolop/lookup',
      nth: index + 1,
      kind: '503',
      ms: 0,
    }),
  );
  const outcome = forgets ? { outcome: 'hold' as const } : { ms: random.between(0, 500) };
  return { callNode: `unknown-${nth}`, deeds: [...lost, ...away], pollInterval: 50, ...outcome };
}

/** Each time that it was not known how an operation stands: until the verdict, or until it was parked. */
export function unknownTimes(history: readonly HistoryEntry[]): { readonly ms: number; readonly parked: boolean }[] {
  const times: { ms: number; parked: boolean }[] = [];
  let since: number | null = null;
  for (const { at, from, to } of history) {
    const [before = '', after = ''] = [from.split('.')[0], to.split('.')[0]];
    if (since === null && UNKNOWN.has(after) && after !== 'PARKED') since = at;
    if (since === null || before === after) continue;
    if (after === 'PARKED' || !UNKNOWN.has(after)) {
      times.push({ ms: at - since, parked: after === 'PARKED' });
      since = null;
    }
  }
  return times;
}
