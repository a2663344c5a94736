/** Plays the scripts with every contender that speaks their protocol, several at the same time. */
import { openAip } from './arenas/aip.ts';
import type { Arena } from './arenas/arena.ts';
import { openMcp } from './arenas/mcp.ts';
import { ServerPool } from './arenas/servers.ts';
import type { Contender, ContenderName } from './contenders/contender.ts';
import type { History, Protocol } from './history.ts';
import { play } from './play.ts';
import { judge, type Verdict } from './referee.ts';
import type { Script } from './script.ts';

export type Cell =
  | { readonly kind: 'played'; readonly history: History; readonly verdict: Verdict }
  /** It cannot do what the script needs. */
  | { readonly kind: 'unable'; readonly needs: string }
  /** The run itself went wrong: no verdict. */
  | { readonly kind: 'broken'; readonly why: string };

/** A script on one protocol, with everybody who speaks it. */
export interface Row {
  readonly script: Script;
  readonly protocol: Protocol;
  readonly cells: Partial<Record<ContenderName, Cell>>;
}

export interface RunOptions {
  readonly scripts: readonly Script[];
  readonly contenders: readonly Contender[];
  readonly atOnce?: number;
  readonly signal?: AbortSignal;
  readonly progress?: (done: number, of: number) => void;
}

export async function runAll(options: RunOptions): Promise<readonly Row[]> {
  const { scripts, contenders, atOnce = 6, signal, progress = () => undefined } = options;
  const rows = scripts.flatMap((script) =>
    script.protocols.map((protocol) => ({ script, protocol, cells: {} as Partial<Record<ContenderName, Cell>> })),
  );
  const jobs = rows.flatMap((row) =>
    contenders.filter(({ protocols }) => protocols.includes(row.protocol)).map((contender) => ({ row, contender })),
  );
  const pool = new ServerPool();
  const left = [...jobs];
  let done = 0;
  const worker = async () => {
    for (let job = left.shift(); job !== undefined; job = left.shift()) {
      signal?.throwIfAborted();
      const { row, contender } = job;
      row.cells[contender.name] = await cellOf(row.script, row.protocol, contender, pool);
      progress(++done, jobs.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, worker));
  } finally {
    await pool.stop();
  }
  return rows;
}

/** A busy machine can let an operation end before its fault is set: that is no run of the script. */
const ATTEMPTS = 3;

async function cellOf(script: Script, protocol: Protocol, contender: Contender, pool: ServerPool): Promise<Cell> {
  const needs = (script.needs ?? []).filter((need) => !contender.can.includes(need));
  if (needs.length > 0) return { kind: 'unable', needs: needs.join(', ') };
  let why = 'no reason';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const { history, unmet } = await onArena(script, protocol, pool, async (arena) => {
        const history = await play(script, protocol, contender, arena);
        return { history, unmet: await arena.unmet() };
      });
      if (unmet.length === 0) return { kind: 'played', history, verdict: judge(history) };
      why = `the fault met nothing: ${unmet.join(', ')}`;
    } catch (error) {
      why = (error as Error).message.split('\n')[0] ?? why;
    }
  }
  return { kind: 'broken', why };
}

async function onArena<T>(
  script: Script,
  protocol: Protocol,
  pool: ServerPool,
  use: (arena: Arena) => Promise<T>,
): Promise<T> {
  if (protocol === 'aip-151') return closing(await openAip(script), use);
  const server = await pool.take(protocol);
  try {
    await server.prepare(script);
    return await closing(await openMcp({ protocol, server, script }), use);
  } finally {
    pool.give(server);
  }
}

async function closing<T>(arena: Arena, use: (arena: Arena) => Promise<T>): Promise<T> {
  try {
    return await use(arena);
  } finally {
    await arena.close();
  }
}
