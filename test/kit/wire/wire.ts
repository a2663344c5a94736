/**
 * The part of the proxy that knows no transport: tells what a message is, looks for its rule, does what that says, and
 * writes down what happened.
 */
import { z } from 'zod';
import type { Replacement, Rule } from './rules.ts';

export type StatusReplacement = Extract<Replacement, { status: number }>;

/** Who sent a message. */
export type Side = 'client' | 'server';

/** One message on its way, as a transport hands it over. */
export interface Lane {
  readonly from: Side;
  /** Ids are unique within one conversation only. */
  readonly conversation: string;
  /** Hands text on. `false`: nobody is there to take it. */
  pass(text: string): boolean;
  /** Makes the loss of the message look as it does on this transport. */
  lose(): void;
  /** Hands on half of the text and closes. */
  cut(text: string): void;
  /** Answers a request, to its sender. */
  reply(text: string): void;
  /** HTTP only: answers the whole exchange to which the message belongs. */
  status(head: StatusReplacement): void;
}

/** `passed`: it reached its receiver (each copy has a line). `held`: it will, later. The others never do. */
export type Fate = 'passed' | 'held' | 'lost' | 'cut' | 'replaced';
/** What became of one message. One that is held has a second line when it passes. */
export interface Line {
  /** Of a response: the method of the request that it answers, `?` where the proxy saw none. */
  readonly method: string;
  /** What kind of message it is, as rules name it. */
  readonly direction: Rule['direction'];
  /** A server sends requests too: its questions. */
  readonly from: Side;
  /** The task that the message (or the request that it answers) names. */
  readonly taskId: string | null;
  /** By this machine's clock, ms. */
  readonly at: number;
  /** What became of it. */
  readonly fate: Fate;
}
type Named = Omit<Line, 'at' | 'fate'>;

/** What a proxy did since its start. */
export interface WireLog {
  /** In the order in which messages met their fate. Text that is no JSON-RPC message has none. */
  readonly lines: readonly Line[];
  /** All rules ever set, and how many messages each has met. */
  readonly rules: readonly { readonly rule: Rule; readonly hits: number }[];
}

const Id = z.union([z.string(), z.number()]);
const Message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: Id.optional(),
  method: z.string().optional(),
  params: z.looseObject({ taskId: z.string().optional() }).optional(),
});
type Message = z.infer<typeof Message>;

interface Watched {
  readonly rule: Rule;
  seen: number;
  hits: number;
}
interface Held {
  readonly direction: Rule['direction'];
  readonly behind: string;
  release(): void;
}

export class Wire {
  #rules: Watched[] = [];
  readonly #all: Watched[] = [];
  #held: Held[] = [];
  readonly #requests = new Map<string, Named>();
  readonly #lines: Line[] = [];

  get log(): WireLog {
    return { lines: this.#lines, rules: this.#all.map(({ rule, hits }) => ({ rule, hits })) };
  }

  setRules(rules: readonly Rule[]): void {
    this.#rules = rules.map((rule) => ({ rule, seen: 0, hits: 0 }));
    this.#all.push(...this.#rules);
    for (const { release } of this.#held.splice(0)) release();
  }

  /** Resolves when the message has met its fate. Text that is no JSON-RPC message just passes. */
  async meet(text: string, lane: Lane): Promise<void> {
    const message = read(text);
    if (message === null) {
      lane.pass(text);
      return;
    }
    const named = this.#name(message, lane);
    const action = this.#take(named);
    switch (action?.kind) {
      case undefined:
        this.#pass(named, lane, text);
        return;
      case 'drop':
        this.#note(named, 'lost');
        lane.lose();
        return;
      case 'delay':
        this.#note(named, 'held');
        await new Promise((resolve) => setTimeout(resolve, action.ms));
        this.#pass(named, lane, text);
        return;
      case 'duplicate':
        this.#pass(named, lane, text);
        this.#pass(named, lane, text);
        return;
      case 'reorder':
        this.#note(named, 'held');
        await new Promise<void>((release) => {
          this.#held.push({ direction: named.direction, behind: action.behind ?? named.method, release });
        });
        this.#pass(named, lane, text);
        return;
      case 'truncate':
        this.#note(named, 'cut');
        lane.cut(text);
        return;
      case 'replace':
        this.#note(named, 'replaced');
        replace(action.with, message, lane);
    }
  }

  #name(message: Message, { from, conversation }: Lane): Named {
    const { method, id, params } = message;
    const key = (asker: Side) => `${conversation} ${asker} ${JSON.stringify(id)}`;
    if (method === undefined) {
      const request = this.#requests.get(key(from === 'client' ? 'server' : 'client'));
      return { method: request?.method ?? '?', direction: 'response', from, taskId: request?.taskId ?? null };
    }
    const direction = id === undefined ? 'notification' : 'request';
    const named: Named = { method, direction, from, taskId: params?.taskId ?? null };
    if (direction === 'request') this.#requests.set(key(from), named);
    return named;
  }

  /** Every rule counts every message that fits it; the first one whose turn it is acts. */
  #take({ method, direction }: Named): Rule['action'] | null {
    const turns = this.#rules.filter((watched) => {
      const { rule } = watched;
      if (rule.method !== method || rule.direction !== direction) return false;
      watched.seen += 1;
      return watched.seen >= rule.nth && watched.seen < rule.nth + rule.times;
    });
    const [first] = turns;
    if (first === undefined) return null;
    first.hits += 1;
    return first.rule.action;
  }

  #pass(named: Named, lane: Lane, text: string): void {
    this.#note(named, lane.pass(text) ? 'passed' : 'lost');
    const waits = ({ direction, behind }: Held) => direction === named.direction && behind === named.method;
    const overtaken = this.#held.filter(waits);
    this.#held = this.#held.filter((held) => !waits(held));
    for (const { release } of overtaken) release();
  }

  #note(named: Named, fate: Fate): void {
    this.#lines.push({ ...named, at: Date.now(), fate });
  }
}

function read(text: string): Message | null {
  try {
    return Message.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function replace(replacement: Replacement, { id, method }: Message, lane: Lane): void {
  if ('status' in replacement) {
    lane.status(replacement);
    return;
  }
  const text = 'body' in replacement ? replacement.body : JSON.stringify({ jsonrpc: '2.0', id, ...replacement });
  if (method === undefined) lane.pass(text);
  else lane.reply(text);
}
