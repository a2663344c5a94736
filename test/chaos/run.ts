/** One chaos run: starts everything, lets the monkey loose, heals, waits, judges, and leaves nothing behind. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openLedger } from '../../persistence/index.ts';
import type { Violation } from '../kit/checker.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { Random } from '../support/random.ts';
import { Fleet } from './fleet.ts';
import { type Judgement, judge, settle } from './judge.ts';
import { Load } from './load.ts';
import { type Deeds, Monkey, type Rounds } from './monkey.ts';
import { Operator } from './operator.ts';
import { NAMESPACE } from './protocol.ts';
import { startShared } from './shared.ts';

export interface ChaosOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly executors: number;
  readonly servers: number;
  /** `redis`, `embedded`: one of its own, which suffers too; `cluster`: three masters, each with a replica; or an address. */
  readonly ledger: string;
  readonly rounds: Rounds | null;
  /** Once, in the middle of the storm: `own`: of the cluster; otherwise a shell command that makes one. */
  readonly failover: 'own' | { readonly command: string } | null;
  /** New calls per second. */
  readonly rate: number;
  /** After the storm: how long nothing may come to rest before what is under way counts as stuck. */
  readonly settleSeconds: number;
}

export interface Progress {
  readonly phase: 'storm' | 'settling';
  readonly elapsedMs: number;
  readonly made: number;
  readonly accepted: number;
  readonly over: number;
  readonly parked: number;
  /** Only while settling: operations that are neither terminal nor parked for good. */
  readonly restless: number | null;
  readonly deeds: Deeds;
}

export interface ChaosOutcome extends Judgement {
  readonly made: number;
  readonly cancels: number;
  readonly deeds: Deeds;
  readonly settledInMs: number;
  /** What a failover took, as far as it was seen, and an operator acknowledged it. */
  readonly forgotten: { readonly partitions: number; readonly steps: number };
}

const PROGRESS_MS = 3_000;

export async function runChaos(
  options: ChaosOptions,
  report: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<ChaosOutcome> {
  const closers: (() => Promise<unknown> | unknown)[] = [];
  try {
    return await storm(options, report, signal, (close) => closers.push(close));
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function storm(
  options: ChaosOptions,
  report: (progress: Progress) => void,
  signal: AbortSignal,
  atEnd: (close: () => Promise<unknown> | unknown) => void,
): Promise<ChaosOutcome> {
  const shared = await startShared(options.ledger);
  atEnd(() => shared.close());
  const { address, redis, historyFile } = shared;
  // What earlier runs left in a ledger that is not ours is not judged.
  const namespace = shared.isOwn ? NAMESPACE : `${NAMESPACE}-${options.seed}-${Date.now()}`;

  const servers: ScriptedServer[] = [];
  for (let nth = 0; nth < options.servers; nth++) {
    // The first one remembers submission keys; the second is what MCP 2025-11-25 alone gives: no look-up.
    const server = await startScriptedServer(nth === 0 ? { lookup: true, dedup: options.seed % 2 === 0 } : {});
    atEnd(() => server.kill());
    servers.push(server);
  }
  signal.throwIfAborted();

  const urls = servers.map(({ url }) => url);
  const fleet = new Fleet(options.executors, { ledger: address, namespace, urls, historyFile });
  atEnd(() => fleet.close());
  for (let slot = 0; slot < fleet.size; slot++) await fleet.ready(slot, signal);

  const ledger = await openLedger(address, { namespace, ...(historyFile === null ? {} : { historyFile }) });
  atEnd(() => ledger.close());
  const operator = new Operator(ledger);
  atEnd(() => operator.stop());

  const targets = servers.map(({ url }, nth) => ({ url, atOnce: nth > 0 }));
  const load = new Load(fleet, targets, new Random(options.seed));
  const monkey = new Monkey({ fleet, redis, servers }, new Random(options.seed ^ 0x5eed), options.rounds);
  // Also after Ctrl-C: no outage ends after its victim was closed.
  atEnd(() => {
    load.stop();
    return monkey.heal();
  });
  const began = Date.now();
  const tell = (phase: Progress['phase'], restless: number | null) => {
    const states = [...fleet.states.values()];
    report({
      phase,
      elapsedMs: Date.now() - began,
      made: load.made,
      accepted: load.taken.size,
      over: states.filter(isOver).length,
      parked: states.filter((state) => state.startsWith('PARKED')).length,
      restless,
      deeds: monkey.deeds,
    });
  };

  const loading = load.run(options.rate);
  const raging = monkey.run();
  const watching = operator.watch();
  const failover = async (how: NonNullable<ChaosOptions['failover']>) => {
    await sleep((options.seconds * 1_000) / 2, undefined, { signal });
    return shared.failover(how === 'own' ? null : how.command);
  };
  const failing = options.failover === null ? null : failover(options.failover);
  // Where the storm ends early, nobody asks what became of these.
  for (const each of [watching, failing]) each?.catch(() => undefined);
  for (const end = began + options.seconds * 1_000; Date.now() < end; ) {
    await sleep(Math.max(1, Math.min(PROGRESS_MS, end - Date.now())), undefined, { signal });
    tell('storm', null);
  }
  load.stop();
  const failed = await failing;
  await Promise.all([monkey.heal(), loading, raging]);

  const healed = Date.now();
  const patienceMs = options.settleSeconds * 1_000;
  while (load.pending > 0 && Date.now() - healed < patienceMs) {
    await sleep(250, undefined, { signal });
  }
  let toldAt = 0;
  const restless = await settle(ledger, servers, patienceMs, (count) => {
    signal.throwIfAborted();
    if (Date.now() - toldAt < PROGRESS_MS && count > 0) return;
    toldAt = Date.now();
    tell('settling', count);
  });
  const settledInMs = Date.now() - healed;
  operator.stop();
  await watching;

  // The consumers are gone before the recording reads the outbox: nobody else takes a row from here on.
  await fleet.close();
  const troubles: Violation[] = fleet.troubles.map((what) => ({ row: 'process', callNode: '(executors)', what }));
  if (failed) troubles.push({ row: 'failover', callNode: '(ledger)', what: failed });
  if (options.failover === null && operator.acknowledged.length > 0)
    troubles.push({
      row: 'B12',
      callNode: '(ledger)',
      what: `${operator.forgotten} steps forgotten without a failover`,
    });
  if (load.pending > 0)
    troubles.push({ row: 'B4', callNode: '(load)', what: `${load.pending} calls that no executor took` });
  const forgot = new Set(operator.acknowledged.map(({ partition }) => partition));
  const judgement = await judge(ledger, servers, fleet.deliveries, [...restless, ...troubles], forgot);
  const known = new Set(judgement.history.calls.map(({ callNode }) => callNode));
  const lost = [...load.taken].filter((node) => !known.has(node));
  const losses = lost.map((callNode) => ({
    row: 'B4',
    callNode,
    what: 'an executor took it, and the ledger has forgotten it',
  }));
  const forgotten = { partitions: operator.acknowledged.length, steps: operator.forgotten };
  return {
    ...{ ...judgement, violations: [...judgement.violations, ...losses] },
    ...{ made: load.made, cancels: load.cancels, deeds: monkey.deeds, settledInMs, forgotten },
  };
}

const isOver = (state: string) => ['ACCEPTED', 'CANCELLED_ACCEPTED', 'NOT_SUBMITTED', 'GIVEN_UP'].includes(state);
