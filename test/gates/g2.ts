/**
 * G2: second operations made by a repeated submission. Every call is handed to several executor processes at once, while
 * replies are lost and processes are killed; and once more to all of them when everything is over. Counted at the servers.
 * Beside it, submissions to the store of the servers' half whose replies are dropped, whose requests arrive after the
 * look-up, and whose senders are stopped.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolCall } from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import { Fleet } from '../chaos/fleet.ts';
import { judge, settle } from '../chaos/judge.ts';
import { NAMESPACE } from '../chaos/protocol.ts';
import { lostSubmissions } from '../servers-half/lost-submissions.ts';
import { Random } from '../support/random.ts';
import { startRedis } from '../support/redis.ts';
import type { DeedKind } from './field/deeds.ts';
import { type GateServer, startServers } from './field/servers.ts';
import { few, type Judged, type Run } from './gate.ts';

const PROCESSES = 3;
const SERVERS = [{ lookup: true }, {}, { lookup: true, dedup: true }];
const HARM: readonly DeedKind[] = ['lostBefore', 'lostReply', 'truncated', 'silence', 'delayed', 'late', '503'];

export async function g2(run: Run): Promise<Judged> {
  const closers: (() => unknown)[] = [];
  try {
    const redis = await startRedis();
    closers.push(() => redis.stop());
    const { servers, close } = await startServers(SERVERS);
    closers.push(close);
    const fleet = new Fleet(PROCESSES, {
      ledger: redis.url,
      namespace: NAMESPACE,
      urls: servers.map(({ url }) => url),
      historyFile: null,
    });
    closers.push(() => fleet.close());
    return await repeat(run, redis.url, servers, fleet);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function repeat(
  { sizes, seed, signal, progress }: Run,
  address: string,
  servers: readonly GateServer[],
  fleet: Fleet,
): Promise<Judged> {
  const random = new Random(seed);
  for (let slot = 0; slot < fleet.size; slot++) await fleet.ready(slot, signal);
  const calls = Array.from({ length: sizes.repeated }, (_, nth) => callOf(random, nth, servers));
  let handed = 0;
  const hand = async (call: ToolCall, slot: number) => {
    handed++;
    return (await fleet.ask(slot, { op: 'submit', call })).kind === 'accepted';
  };
  const all = [...Array(fleet.size).keys()];

  // Handed to all at once, again and again until somebody took it: a killed process does not answer.
  const over = new AbortController();
  const killing = kill(fleet, random, sizes.executorKills, AbortSignal.any([signal, over.signal]));
  const untilTaken = async (call: ToolCall) => {
    await sleep(random.between(0, sizes.executorKills * 1_000), undefined, { signal });
    for (let tries = 0; tries < 60; tries++) {
      const taken = await Promise.all(all.map((slot) => hand(call, slot)));
      if (taken.some((yes) => yes)) return true;
      await sleep(250, undefined, { signal });
    }
    return false;
  };
  const taken = await Promise.all(calls.map(untilTaken));
  progress(`${calls.length} calls handed out ${handed} times`);
  const kills = await killing;
  over.abort();
  await Promise.all(servers.map((server) => server.calm()));

  const ledger = await openLedger(address, { namespace: NAMESPACE });
  try {
    const restless = await settle(ledger, servers, 30_000, (count) => {
      signal.throwIfAborted();
      progress(`${count} not at rest`);
    });
    // All over: and once more.
    for (const slot of all) await fleet.ready(slot, signal);
    await Promise.all(calls.flatMap((call) => all.map((slot) => hand(call, slot))));
    await sleep(500);
    await fleet.close();
    const { violations } = await judge(ledger, servers, fleet.deliveries, restless);
    const { made, second } = await count(servers);
    progress(`${sizes.lost} lost submissions to the servers' half`);
    const half = await lostSubmissions({ redis: address, count: sizes.lost, seed, rules: 'contract' });
    const seconds = second + half.duplicates + half.orphans;
    const untaken = taken.filter((yes) => !yes).length;
    return {
      ran: 'submissions of call nodes, repeated',
      count: handed + half.requests,
      figure: `${seconds} second operations`,
      limit: '0',
      pass: seconds + half.lost === 0 && violations.length === 0 && fleet.troubles.length === 0 && untaken === 0,
      notes: [
        `servers' half: ${half.calls} calls in ${half.requests} requests, ${half.repliesDropped} replies dropped, ${half.arrivedAfterLookup} requests after their look-up, ${half.senderStops} senders stopped: ${half.duplicates} duplicates`,
        `${calls.length} call nodes, ${made} operations at the servers, ${kills} executor processes killed`,
        ...few([
          ...violations.map(({ row, callNode, what }) => `${row} ${callNode}: ${what}`),
          ...fleet.troubles,
          ...(untaken > 0 ? [`${untaken} calls that nobody took`] : []),
        ]),
      ],
    };
  } finally {
    await ledger.close();
  }
}

function callOf(random: Random, nth: number, servers: readonly GateServer[]): ToolCall {
  const callNode = `again-${nth}`;
  const harm = random.chance(0.6) ? [random.pick(HARM)] : [];
  const deeds = harm.map((kind) => ({ method: 'tools/call', nth: 1, kind, ms: random.between(0, 3_500) }));
  const script = { callNode, deeds, ms: random.between(0, 1_500), pollInterval: 200 };
  const { url } = random.pick(servers);
  return { callNodeId: callNode, endpoint: { kind: 'http', url }, tool: 'work', arguments: { script } };
}

async function kill(fleet: Fleet, random: Random, kills: number, signal: AbortSignal): Promise<number> {
  for (let killed = 0; killed < kills; killed++) {
    await sleep(random.between(300, 1_200), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return killed;
    await fleet.replace(random.between(0, fleet.size - 1), random.between(0, 500));
  }
  return kills;
}

/** Runs of the tool at the servers, and those that were not the first one of their call node. */
async function count(servers: readonly GateServer[]): Promise<{ made: number; second: number }> {
  let made = 0;
  let second = 0;
  for (const server of servers) {
    const nodes = new Set((await server.tasks()).map(({ script }) => script.callNode));
    const { executions } = await server.log();
    made += executions;
    second += executions - nodes.size;
  }
  return { made, second };
}
