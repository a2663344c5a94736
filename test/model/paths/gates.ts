/**
 * A real executor that does nothing unasked: each claim, each session, each request and each step of its record waits for
 * the walk to let it go. What passes a gate is done by the real parts behind it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Applied, ApplyOptions, Opened } from '../../../machines/actor/store.ts';
import {
  Executor,
  type ExecutorOptions,
  type OperationLedger,
  type OperationProtocol,
} from '../../../machines/index.ts';
import {
  EndpointUnavailable,
  type InputChannelEvents,
  type InputReplies,
  type ProtocolSession,
  type SubmitOutcome,
  type TaskRef,
} from '../../../machines/operation-protocol.ts';
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import { withSessions } from '../../kit/sessions.ts';
import type { Method } from '../system/performance.ts';

/** One request before the wire. */
export interface Request {
  readonly method: Method;
  readonly aborted: () => boolean;
  /** Sends it by the real adapter. */
  send(): Promise<unknown>;
  /** Hands an outcome to whoever waits for it. */
  settle(outcome: unknown): void;
  fail(error: Error): void;
  /** The answer that comes after its waiting ended. */
  late(outcome: unknown): void;
}
/** One step of the record before the ledger. */
export interface Writing {
  event: OperationEvent;
  go(): Promise<Applied>;
  /** The process is gone: it is never written. */
  drop(): void;
}
interface News {
  readonly kind: 'question' | 'end';
  tell(): void;
  /** Lost on the wire: the channel ends without what it said. */
  lose(): void;
}

/** ms. */
const END_MS = 5_000;
/** Its own for each who waits: one for all would keep whatever waits for it, with its ledger, as long as the process lives. */
const never = (): Promise<never> => new Promise(() => undefined);

export class GatedExecutor {
  readonly executor: Executor;
  requests: Request[] = [];
  writings: Writing[] = [];
  news: News[] = [];
  /** Sessions that effects ask for: `true` lets them have theirs. */
  #doors: ((open: boolean) => void)[] = [];
  #claims = 0;
  #outdated: ReadonlySet<Request> = new Set();
  #nudges: Parameters<OperationLedger['onChange']>[0][] = [];
  /** Killed, or stopped for good: its ledger hears nothing of it any more. */
  #isDead = false;
  #isEnding = false;
  /** Its process stands still: it renews nothing. */
  isStopped = false;

  constructor(
    private readonly ledger: OperationLedger,
    private readonly protocol: OperationProtocol,
    options: Omit<ExecutorOptions, 'ledger' | 'protocols'>,
  ) {
    this.executor = new Executor({
      ...options,
      ledger: this.#gatedLedger(),
      protocols: [this.#gatedProtocol(protocol)],
    });
    const { store, connections } = this.executor.env;
    const apply = store.apply.bind(store);
    store.apply = (operationId, event, more, known) => this.#write(apply, operationId, event, more, known);
    const session = connections.session.bind(connections);
    connections.session = async (context) => {
      if (await this.#door()) return session(context);
      throw await this.unavailable();
    };
  }

  get id(): string {
    return this.executor.env.executorId;
  }
  get epoch(): number {
    return this.executor.env.executionEpoch;
  }
  get waitsAtDoor(): boolean {
    return this.#doors.length > 0;
  }
  get isDead(): boolean {
    return this.#isDead;
  }

  door(open: boolean): void {
    this.#doors.shift()?.(open);
  }

  /** What a server that is away really looks like. */
  async unavailable(): Promise<Error> {
    // Where a revision has no sessions, the first request tells.
    const error: unknown = await this.protocol
      .connect({ kind: 'http', url: 'http://127.0.0.1:9/mcp' })
      .then((session) => session.negotiate('work', {}))
      .catch((reason: unknown) => reason);
    if (!(error instanceof EndpointUnavailable)) throw new Error('somebody listens on port 9');
    return error;
  }

  /** Lets it claim once; looks until it has. */
  claim(): void {
    this.#claims = 1;
  }

  /** The record went on without it: what it was about to ask, it asks anew. */
  outdate(): void {
    this.#outdated = new Set(this.requests.filter(({ method }) => method !== 'submit'));
  }

  /** Lets what is out of date go without an answer: whatever is made of that is refused. */
  settleOutdated(): void {
    for (const request of this.requests) if (this.#outdated.has(request)) request.settle(silence(request.method));
    this.requests = this.requests.filter((request) => !this.#outdated.has(request));
  }

  nudge(operationId: string): void {
    for (const listener of this.#nudges) listener(operationId, 'step');
  }

  kill(): void {
    this.#isDead = true;
    for (const writing of this.writings.splice(0)) writing.drop();
    this.#doors = [];
  }

  /** Ends as a process that is asked to: gives back what it holds. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const stopped = this.executor.stop();
    let isStopped = false;
    void stopped.then(() => {
      isStopped = true;
    });
    for (const deadline = performance.now() + END_MS; !isStopped; ) {
      if (performance.now() > deadline) throw new Error('an executor does not end');
      for (const door of this.#doors.splice(0)) door(true);
      for (const request of this.requests.splice(0)) request.settle(silence(request.method));
      for (const writing of this.writings.splice(0)) writing.drop();
      await delay(1);
    }
  }

  #door(): Promise<boolean> {
    if (this.#isEnding) return Promise.resolve(true);
    return new Promise((resolve) => this.#doors.push(resolve));
  }

  #write(
    apply: (operationId: string, event: OperationEvent, more?: ApplyOptions, known?: Opened) => Promise<Applied>,
    operationId: string,
    event: OperationEvent,
    more?: ApplyOptions,
    known?: Opened,
  ): Promise<Applied> {
    return new Promise<Applied>((resolve, reject) => {
      const writing: Writing = {
        event,
        go: async () => {
          // It is stamped right before it is applied; the walk may have let time pass in between.
          writing.event = { ...event, at: this.executor.env.time.now() };
          const applied = await apply(operationId, writing.event, more, known);
          // The ledger tells everybody of a change, also whoever made it.
          if (applied.kind === 'taken') this.nudge(operationId);
          resolve(applied);
          return applied;
        },
        // As if refused: a drive that is ending leaves without calling it a fault, another one looks again.
        drop: () => {
          if (!this.#isDead) void this.#refused(operationId, event).then(resolve, reject);
        },
      };
      if (this.#isEnding) writing.drop();
      else this.writings.push(writing);
    });
  }

  async #refused(operationId: string, { type }: OperationEvent): Promise<Applied> {
    const opened = await this.executor.load(operationId);
    if (!opened) return { kind: 'missing' };
    return { kind: 'refused', opened, refusal: { guards: [], state: '', event: type, text: 'out of date' } };
  }

  #gatedLedger(): OperationLedger {
    const { ledger } = this;
    const own: Partial<OperationLedger> = {
      claimDue: async (ask) => {
        if (this.#claims === 0)
          return { claimed: [], now: 0, nextDueAt: null, nextDue: new Map(), regressed: new Map() };
        // The walk says who claims.
        const found = await ledger.claimDue({ ...ask, limit: 1, overdueMs: () => 0 });
        if (found.claimed.length > 0) this.#claims = 0;
        return found;
      },
      renewLease: async (...lease) => (this.isStopped ? never() : ledger.renewLease(...lease)),
      onChange: (listener) => {
        this.#nudges.push(listener);
        return () => undefined;
      },
      deadScopes: async () => [],
    };
    return new Proxy(ledger, {
      get: (object, name) => {
        const member: unknown = Reflect.get(own, name) ?? Reflect.get(object, name);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]): unknown => (this.#isDead ? never() : member.apply(object, given));
      },
    });
  }

  #gatedProtocol(protocol: OperationProtocol): OperationProtocol {
    // A hint would be a read that no step of the walk is about.
    const { hints: _, ...silent } = protocol;
    return withSessions(silent, (session) => this.#gated(session));
  }

  #gated(session: ProtocolSession): ProtocolSession {
    const { answerInput } = session;
    return {
      negotiate: (...given) => session.negotiate(...given),
      onGone: (listener) => session.onGone(listener),
      close: () => session.close(),
      // Whether the lease allows it is asked before the gate: a process can stop between that look and its write.
      submit: (submission, options) => {
        const mayWrite = options.mayWrite();
        const send = () =>
          session.submit(submission, { mayWrite: () => mayWrite, timeoutMs: 5_000, late: () => undefined });
        return mayWrite ? this.#ask('submit', options.signal, options.late, send) : send();
      },
      status: (task, signal) => this.#ask('status', signal, null, () => session.status(task)),
      result: (task, status, signal) => this.#ask('result', signal, null, () => session.result(task, status)),
      cancel: (task, signal) => this.#ask('cancel', signal, null, () => session.cancel(task)),
      lookup: (submission, options) => this.#ask('lookup', options?.signal, null, () => session.lookup(submission)),
      ...(answerInput
        ? {
            answerInput: (task: TaskRef, replies: InputReplies, signal?: AbortSignal) =>
              this.#ask('update', signal, null, () => answerInput(task, replies)),
          }
        : {}),
      openInput: (task, events) => {
        const channel = session.openInput(task, this.#gatedEvents(events));
        return {
          deliver: (reply) => this.#ask('deliver', undefined, null, () => channel.deliver(reply)),
          close: () => {
            this.news = [];
            channel.close();
          },
        };
      },
    };
  }

  #gatedEvents(events: InputChannelEvents): InputChannelEvents {
    return {
      request: (request) => {
        this.news.push({ kind: 'question', tell: () => events.request(request), lose: () => undefined });
      },
      closed: (reason, payload) => {
        const lose = () => events.closed('the connection is gone');
        this.news.push({ kind: 'end', tell: () => events.closed(reason, payload), lose });
      },
    };
  }

  #ask<T>(
    method: Method,
    signal: AbortSignal | undefined,
    late: ((outcome: SubmitOutcome) => void) | null,
    send: () => Promise<T>,
  ): Promise<T> {
    return new Promise<T>((settle, fail) => {
      const request: Request = {
        method,
        aborted: () => signal?.aborted === true,
        send,
        settle: (outcome) => settle(outcome as T),
        fail,
        late: (outcome) => late?.(outcome as SubmitOutcome),
      };
      this.requests.push(request);
    });
  }
}

/** What an adapter makes of an answer that never came. */
export function silence(method: Method): unknown {
  if (method === 'submit') return { kind: 'connectionLost', reason: 'silence' };
  return method === 'deliver' ? false : { kind: 'unknown', reason: 'silence' };
}
