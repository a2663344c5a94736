/** Swarm-style (G1): each seed draws a call, a subset of the faults, where each of them strikes, and who does what when. */
import type { ToolCall } from '../../../machines/index.ts';
import type { ScriptedOptions } from '../../kit/servers/mcp-2025-11-25/options.ts';
import { Random } from '../../support/random.ts';
import type { Deed, DeedKind, GateScript } from '../field/deeds.ts';

/** The servers of a round. */
export const SERVERS: readonly Partial<ScriptedOptions>[] = [
  { lookup: true },
  {},
  { lookup: true, dedup: true },
  { cancel: false, json: true },
];

export interface Life {
  readonly seed: number;
  readonly server: number;
  readonly script: GateScript;
  readonly more: Partial<ToolCall>;
  /** Executors that are handed the call, in order; and how long after the first the others come, ms. */
  readonly submitters: readonly number[];
  readonly apartMs: number;
  readonly cancels: readonly { readonly by: number; readonly afterMs: number }[];
}

const KINDS: Readonly<Record<string, readonly DeedKind[]>> = {
  'tools/call': ['lostBefore', 'lostReply', 'truncated', 'silence', 'delayed', 'late', '503', '429'],
  'tasks/get': [
    'lostBefore',
    'lostReply',
    'truncated',
    'silence',
    'delayed',
    'late',
    'twice',
    '503',
    '429',
    'internalError',
  ],
  'tasks/result': ['lostBefore', 'lostReply', 'truncated', 'delayed', 'late', 'twice', '503', 'internalError'],
  'tasks/cancel': [
    'lostBefore',
    'lostReply',
    'truncated',
    'silence',
    'delayed',
    'late',
    'twice',
    '503',
    'internalError',
  ],
  'dev.toolop/lookup': ['lostBefore', 'lostReply', 'delayed', 'late', 'twice', '503', '429', 'internalError'],
};
/** How often a method is hit at all, when its turn in the swarm comes. */
const METHODS = Object.keys(KINDS);

export function lifeOf(seed: number, executors: number): Life {
  const random = new Random(seed);
  const callNode = `seed-${seed}`;
  const server = random.between(0, SERVERS.length - 1);
  const { lookup = false } = SERVERS[server] ?? {};
  // The swarm: this operation knows some methods' faults and some kinds only.
  const methods = METHODS.filter(() => random.chance(0.65));
  const kinds = new Set(METHODS.flatMap((method) => KINDS[method] ?? []).filter(() => random.chance(0.5)));
  const deeds = methods.flatMap((method): Deed[] => {
    const possible = (KINDS[method] ?? []).filter((kind) => kinds.has(kind));
    if (possible.length === 0) return [];
    const many = random.between(1, method === 'tasks/get' ? 4 : 2);
    const drawn = Array.from({ length: many }, () => ({
      method,
      nth: random.between(1, method === 'tasks/get' ? 6 : 2),
      kind: random.pick(possible),
      ms: random.between(0, 1_500),
    }));
    return drawn.filter((deed, at) => !isSecondError(deed, drawn.slice(0, at)));
  });
  const ends = random.next();
  const script: GateScript = {
    callNode,
    deeds,
    ms: random.chance(0.15) ? 0 : random.between(20, 1_500),
    pollInterval: random.between(60, 250),
    ...(random.chance(0.4) ? { ask: random.between(1, 2) } : {}),
    ...(ends < 0.12 ? { outcome: 'rpcError' as const } : ends < 0.24 ? { outcome: 'isError' as const } : {}),
    // A server that finds operations by key must not forget those that it answered at once.
    ...(!lookup && random.chance(0.08) ? { ignoreTask: true } : {}),
  };
  const any = () => random.between(0, executors - 1);
  return {
    seed,
    server,
    script,
    more: { tool: random.chance(0.3) ? 'typed' : 'work', effectFree: random.chance(0.2) },
    submitters: Array.from({ length: random.chance(0.4) ? random.between(2, 3) : 1 }, any),
    apartMs: random.chance(0.5) ? 0 : random.between(0, 400),
    cancels: random.chance(0.4)
      ? Array.from({ length: random.between(1, 2) }, () => ({ by: any(), afterMs: random.between(0, 1_500) }))
      : [],
  };
}

/** The same error twice is what a failed task came to, by the protocol: a fault says it once. */
const isSecondError = ({ method, kind }: Deed, before: readonly Deed[]): boolean =>
  method === 'tasks/result' && kind === 'internalError' && before.some((deed) => deed.kind === 'internalError');
