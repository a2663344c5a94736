/**
 * The executor: it owns connections, leases and waiting, and decides nothing. What follows what is the chart's.
 */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { ApprovalPort } from '../approval-gate/round.ts';
import { type OperationLedger, type Side, shadowNamespace, type Tombstone } from '../operation-ledger.ts';
import { type Endpoint, EndpointUnavailable, type InputReply, type OperationProtocol } from '../operation-protocol.ts';
import type { OrdinaryOutcome } from '../shadow/comparison.ts';
import { Policy } from '../tool-operation/context.ts';
import { acceptFieldsOf } from '../tool-operation/guards.ts';
import { newOperation, type OperationMachine, statePath, writeSnapshot } from '../tool-operation/snapshot.ts';
import { DEFAULT_POLICY, firstContext, requestOf, scopeOf, type ToolCall, ToolCallLimits } from './call.ts';
import { type Clock, LedgerTime, systemClock } from './clock.ts';
import { answer, type CommandAnswer, cancel, type Reconciliation, reconcile } from './commands.ts';
import { Connections, ServerGone } from './connections.ts';
import type { Environment, OutputGuard, Rate } from './environment.ts';
import { followOperation } from './follow.ts';
import { type Log, silent } from './log.ts';
import { OperationParked } from './operation-error.ts';
import { finalOutcome, readOutcome, type TerminalOutcome } from './outcome.ts';
import { purgedWords } from './purged.ts';
import type { RecordedEvent } from './recorded-event.ts';
import type { Retention } from './retention.ts';
import { type Route, Routes } from './routes.ts';
import { Scheduler } from './scheduler.ts';
import { type OrdinaryReader, readToolResult, type ShadowAnswer, Shadows } from './shadow.ts';
import { type Opened, OperationStore } from './store.ts';
import { traceToKeep } from './telemetry/kept-trace.ts';
import { measureCreated } from './telemetry/measure.ts';
import { observe } from './telemetry/observe.ts';
import { inCommand, inCreation } from './telemetry/steps.ts';
import { EpochIsOver, Tenure } from './tenure.ts';
import { Upkeep } from './upkeep.ts';
import { Watches } from './watches.ts';

/** What an executor serves, and how. The first three are needed. */
export interface ExecutorOptions {
  /** Of kind `operations`, if calls are to have an outcome. Closing it is its owner's. */
  readonly ledger: OperationLedger;
  /** The namespace the ledger was opened for. */
  readonly namespace: string;
  /** The adapters it has, one for each revision. The first is for calls that name none. */
  readonly protocols: readonly OperationProtocol[];
  /**
   * The ledger of this namespace's shadows, opened with `kind: 'shadow'` (R1): needed where a rollout rule says `shadow`. Its
   * operations are served by this executor too, and closing it is its owner's.
   */
  readonly shadowLedger?: OperationLedger;
  /** Servers whose operations this executor takes over, besides those it submits to. */
  readonly endpoints?: readonly Endpoint[];
  /** R3. Default: the ledger's, as it is when the executor starts. */
  readonly executionEpoch?: number;
  /** Bounds of the waiting, ms, over `DEFAULT_POLICY` and under a call's own (B8). */
  readonly policy?: Partial<Policy>;
  /** ms. Renewed while an effect is in flight; a dead executor's operation comes back after it. */
  readonly leaseMs?: number;
  /** How long one answer of a server is waited for, ms: giving up only stops the waiting (B14). Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** For each server (B8, G3). Executors that share a ledger are to have the same. Default: 10 a second, 10 at once. */
  readonly rate?: Rate;
  /** How many operations it drives at the same time; waiting ones do not count. Default 256. */
  readonly concurrency?: number;
  /** Refuse to start on a ledger that can lose or evict an acknowledged receipt. Default: only say so in the log. */
  readonly requireDurableLedger?: boolean;
  /** How long its last sign of life counts, ms: after it others park what only this process could serve. Default 20 s. */
  readonly processTimeoutMs?: number;
  /**
   * How often a part of the ledger is looked at although nothing is known to be due there, ms: what a lost nudge costs at
   * most. Default 5 s.
   */
  readonly lookEveryMs?: number;
  /**
   * How long something may be due before another executor takes it than the one that is to look after it, ms: what one
   * that is dead, stopped or unable costs. Default 2 s.
   */
  readonly graceMs?: number;
  /** Where questions of servers go (B7). Default: nowhere, they wait for `answer`, from any process. */
  readonly approval?: ApprovalPort;
  /** All are asked, in order, before anybody sees a result (B12). Default: everything is released. */
  readonly outputGuards?: readonly OutputGuard[];
  /**
   * How long one output guard may take, ms: longer than the slowest takes. After it nothing is accepted and nothing
   * refused; the guards are asked again later, and the log says so. Default 60 s.
   */
  readonly guardTimeoutMs?: number;
  /** R3: `false` stops creating by this executor; what is in flight goes on. The fleet's switch is `setCreation` of the ledger. */
  readonly creationAllowed?: () => boolean;
  /** Purges by this policy now and then, whoever else does. Default: nothing is purged (`toolop purge` does it once). */
  readonly retention?: z.input<typeof Retention>;
  /** ms between two purges of this executor. Default: an hour. */
  readonly purgeEveryMs?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** The chart, or a variant of it (tests). */
  readonly machine?: OperationMachine;
  /**
   * Given each event that was applied to a record, after its commit, and each that was refused: write them down, and
   * `replayEvents` of `toolop/testing` tells whether another version of the chart takes the same steps. Must not wait.
   */
  readonly record?: (recorded: RecordedEvent) => void;
  /** Default: nobody listens. */
  readonly log?: Log;
}

/** What became of a submission (B4). `existing`: the call node had its operation already, and this is it. */
export type SubmitAnswer =
  | { readonly kind: 'accepted'; readonly operationId: string; readonly existing: boolean }
  /** Nothing was created (B1). `next` says what can be done. */
  | { readonly kind: 'refused'; readonly reason: string; readonly next: string };

const NEWER_EPOCH =
  'submit from an executor that was started since then; the same call node is the same operation there';
const notCreated = (reason: string, next: string): SubmitAnswer => ({ kind: 'refused', reason, next });

/**
 * Makes calls operations, and drives what is due in its ledger. Any number of executors share one, in any processes. Before
 * `start` it only creates, reads and takes commands.
 */
export class Executor {
  /** What its parts work with, for what is built on an executor: a handle, a promise, a command line. */
  readonly env: Environment;
  /** New for each executor: it gives signs of life under it, and its own scope is `process:<id>`. */
  readonly processId = randomUUID();
  readonly #scheduler: Scheduler;
  readonly #connections: Connections;
  readonly #watches: Watches;
  readonly #routes: Routes;
  readonly #inner: Executor | null;
  readonly #shadows: Shadows | null;
  readonly #upkeep: Upkeep;
  #started = false;
  #unobserve: () => void = () => undefined;

  constructor(private readonly options: ExecutorOptions) {
    const clock = options.clock ?? systemClock;
    const log = options.log ?? silent;
    const executorId = `x-${this.processId}`;
    let intents = 0;
    this.#upkeep = new Upkeep(options);
    this.#connections = new Connections(options.protocols, this.processId);
    for (const endpoint of options.endpoints ?? []) this.#connections.register(endpoint);
    const tenure = new Tenure(options.ledger, options.executionEpoch ?? null);
    this.env = {
      ledger: options.ledger,
      store: new OperationStore({
        ledger: options.ledger,
        executorId,
        newId: () => `${this.processId}:${intents++}`,
        log,
        writes: this.#upkeep.writes,
        ...(options.machine ? { machine: options.machine } : {}),
        ...(options.record ? { record: options.record } : {}),
      }),
      connections: this.#connections,
      clock,
      time: new LedgerTime(() => options.ledger.now(), clock),
      executorId,
      tenure,
      get executionEpoch() {
        return tenure.epoch;
      },
      leaseMs: options.leaseMs ?? 30_000,
      requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
      rate: options.rate ?? { qps: 10, burst: 10 },
      approval: options.approval ?? null,
      outputGuards: options.outputGuards ?? [],
      guardTimeoutMs: options.guardTimeoutMs ?? 60_000,
      creationAllowed: options.creationAllowed ?? (() => true),
      log,
    };
    this.#watches = new Watches(this.env);
    this.#routes = new Routes(options.ledger);
    this.#inner = shadowExecutor(options);
    this.#shadows = this.#inner && new Shadows(this, this.#inner);
    tenure.over.addEventListener('abort', () => this.#watches.close(), { once: true });
    this.#scheduler = new Scheduler({
      env: this.env,
      processId: this.processId,
      concurrency: options.concurrency ?? 256,
      processTimeoutMs: options.processTimeoutMs ?? 20_000,
      lookEveryMs: options.lookEveryMs ?? 5_000,
      graceMs: options.graceMs ?? 2_000,
    });
  }

  /** Begins to serve the ledger, under its execution epoch. */
  async start(): Promise<this> {
    if (this.#started) return this;
    await this.env.time.sync();
    await this.env.tenure.begin();
    const durability = await this.env.ledger.durability();
    this.env.log({
      level: durability.acceptable ? 'info' : 'warn',
      event: 'ledger.durability',
      detail: { acceptable: durability.acceptable, statement: durability.statement },
    });
    if (this.options.requireDurableLedger && !durability.acceptable) {
      throw new Error(`this ledger can lose an acknowledged receipt: ${durability.statement}`);
    }
    await this.#upkeep.start(this.env);
    const alive = await this.#scheduler.giveSignOfLife();
    this.#started = true;
    this.#scheduler.start(alive);
    this.#unobserve = observe({
      ledger: this.env.ledger,
      namespace: this.options.namespace,
      log: this.env.log,
      qps: this.env.rate.qps,
      driven: () => this.#scheduler.driven,
    });
    await this.#inner?.start();
    return this;
  }

  /** R3: aborts when the execution epoch of this executor is over. It serves nothing from then on; reading goes on. */
  get epochOver(): AbortSignal {
    return this.env.tenure.over;
  }

  /** Stops serving: what is in flight stays in the ledger for the next executor. Cancels nothing (B14). */
  async stop(): Promise<void> {
    const innerStopped = this.#inner?.stop();
    this.#unobserve();
    this.#watches.close();
    await this.#upkeep.stop();
    if (this.#started) await this.#scheduler.stop();
    await this.#connections.close();
    // What only this process could serve is somebody else's to park, now and not when the last sign of life is old.
    if (this.#started) await this.env.ledger.heartbeat(this.processId, 1).catch(() => undefined);
    await innerStopped;
  }

  /** Where the operation of a call node stands, whether or not it exists. */
  operationIdOf(call: Pick<ToolCall, 'callNodeId' | 'principal'>): string {
    return this.env.ledger.operationIdOf({
      namespace: this.options.namespace,
      principal: call.principal ?? 'local',
      callNodeId: call.callNodeId,
    });
  }

  /** The adapter under which a call becomes an operation. */
  adapterOf(call: Pick<ToolCall, 'protocol'>): string {
    const adapter = call.protocol ?? this.options.protocols[0]?.id;
    if (adapter === undefined) throw new Error('this executor has no protocol adapter');
    return adapter;
  }

  /**
   * Which side a call takes (R1, R2), recorded at first contact: the same answer for ever, whatever the rules say later. Only a call
   * whose side is `operation` may be submitted. Throws a `ZodError` for a call that is not one, and `LedgerIncompatible` where
   * the rules cannot be read.
   */
  async route(call: ToolCall): Promise<Route> {
    ToolCallLimits.parse(call);
    return (await this.#taken(call)).route;
  }

  #taken(call: ToolCall): ReturnType<Routes['take']> {
    return this.#routes.take({
      operationId: this.operationIdOf(call),
      tool: call.tool,
      adapter: this.adapterOf(call),
    });
  }

  /**
   * Makes an ordinary call whose side is `shadow`, and beside it the operation that it is compared with (R1). Resolves or rejects
   * as `ordinary` does, untouched and without waiting for anything else, whatever becomes of the shadow: the log says that.
   */
  async shadow<T>(call: ToolCall, ordinary: () => Promise<T>, read: Partial<OrdinaryReader<T>> = {}): Promise<T> {
    if (this.#shadows) {
      return this.#shadows.beside(call, ordinary, { returned: readToolResult, thrown: () => null, ...read });
    }
    this.env.log({ level: 'warn', event: 'shadow.none', detail: { why: 'this executor has no ledger of shadows' } });
    return ordinary();
  }

  /**
   * For a caller that makes the ordinary call elsewhere: begins the shadow of a call whose side is `shadow`. Answers why there
   * is none.
   */
  async beginShadow(call: ToolCall): Promise<ShadowAnswer> {
    return this.#needShadows().begin(call, await this.route(call));
  }

  /** The same: what the ordinary call came to. Kept as digests, field by field, and compared once the shadow is over. */
  reportOrdinary(call: ToolCall, outcome: OrdinaryOutcome): Promise<void> {
    return this.#needShadows().report(call, outcome);
  }

  #needShadows(): Shadows {
    if (this.#shadows) return this.#shadows;
    throw new Error('this executor has no ledger of shadows: give it one as shadowLedger');
  }

  /**
   * One call node, one operation: creates it, or finds the one that is there (B4). A different request under the same
   * call node, and a call that takes another side, is refused. Throws a `ZodError` for a call that is not one.
   */
  async submit(call: ToolCall): Promise<SubmitAnswer> {
    ToolCallLimits.parse(call);
    await this.env.time.sync();
    const operationId = this.operationIdOf(call);
    const request = requestOf(call);
    const { route, known } = await this.#taken(call);
    if (known?.kind === 'record') return this.#attach(call, this.env.store.open(known.record), request.digest);
    if (known?.kind === 'purged') return madeBefore(call, known.tombstone, request.digest);
    if (route.side !== 'operation') return otherSide(route.side, route.rule);
    await this.env.tenure.beginOnce();
    if (this.epochOver.aborted) return notCreated((this.epochOver.reason as EpochIsOver).message, NEWER_EPOCH);
    if (!this.env.creationAllowed()) {
      return notCreated(
        'creating operations is switched off',
        'what is in flight goes on; call again when creation is on',
      );
    }
    const protocol = this.adapterOf(call);
    return inCreation(this.env, operationId, protocol, call.tool, () => this.#create(call, protocol, operationId));
  }

  async #create(call: ToolCall, protocol: string, operationId: string): Promise<SubmitAnswer> {
    const request = requestOf(call);
    this.#reach(call.endpoint);
    const context = await this.#negotiated(call, protocol, operationId);
    if ('kind' in context) return context;
    this.#connections.remember(context);
    const snapshot = newOperation(context, this.env.store.machine);
    const minReaderVersion = this.env.store.writes;
    const requestText = JSON.stringify({ tool: call.tool, arguments: call.arguments, ttlMs: call.ttlMs ?? null });
    const askedAt = this.env.clock.monotonic();
    const created = await this.env.store.announcing(operationId, () =>
      this.env.ledger.create(
        {
          operationId,
          commandId: `${this.processId}:create:${randomUUID()}`,
          snapshot: writeSnapshot(snapshot, minReaderVersion),
          state: statePath(snapshot),
          fields: acceptFieldsOf(context),
          scope: scopeOf(call.endpoint, this.processId),
          dueAt: context.dueAt,
          creates: protocol,
          payloads: [
            {
              digest: request.digest,
              text: requestText,
            },
            ...traceToKeep(),
          ],
          history: {
            at: context.createdAt,
            event: 'created',
            from: '',
            to: statePath(snapshot),
            executor: this.env.executorId,
          },
        },
        this.#started ? { owner: this.env.executorId, ms: this.env.leaseMs } : null,
      ),
    );
    switch (created.kind) {
      case 'epochOver': {
        const over = new EpochIsOver(this.env.executionEpoch, created.epoch);
        this.env.tenure.end(created.epoch);
        return notCreated(over.message, NEWER_EPOCH);
      }
      case 'creationOff':
        return notCreated(
          'creating operations is switched off in this ledger',
          'what is in flight goes on; call again, with the same call node, when an operator has switched creation on',
        );
      case 'switchedOff':
        return notCreated(
          `the adapter ${protocol} is ${created.state}: nothing new is submitted under it`,
          'use another adapter, or make this one active again; what is in flight goes on',
        );
    }
    if (created.kind === 'otherSide') return otherSide(created.side, null);
    if (created.kind === 'purged') return madeBefore(call, created.tombstone, request.digest);
    if (created.kind === 'exists') return this.#attach(call, this.env.store.open(created.record), request.digest);
    measureCreated(context);
    if (this.#started) {
      this.#scheduler.take(created.record, askedAt, { snapshot, minReaderVersion, requestText });
    }
    this.#scheduler.keep(created.record);
    return { kind: 'accepted', operationId, existing: false };
  }

  async #negotiated(call: ToolCall, protocol: string, operationId: string) {
    try {
      const session = await this.#connections.fresh(call.endpoint, protocol);
      const negotiated = await session.negotiate(call.tool, call.arguments as never);
      if (negotiated.kind === 'refused') return negotiated;
      return firstContext({
        call,
        operationId,
        namespace: this.options.namespace,
        protocol,
        processId: this.processId,
        executionEpoch: this.env.executionEpoch,
        negotiated,
        policy: Policy.parse({ ...DEFAULT_POLICY, ...this.options.policy, ...call.policy }),
        now: this.env.time.now(),
      });
    } catch (error) {
      if (!(error instanceof EndpointUnavailable || error instanceof ServerGone)) throw error;
      return {
        kind: 'refused' as const,
        reason: error.message,
        next: 'check the server command, or the URL and its credentials',
      };
    }
  }

  #attach(call: ToolCall, known: Opened, requestDigest: string): SubmitAnswer {
    const { context } = known.snapshot;
    if (context.requestDigest !== requestDigest) {
      return {
        kind: 'refused',
        reason: `the call node ${call.callNodeId} already made another request (tool ${context.tool.name})`,
        next: 'a call node is one call instance: give this call a node id of its own',
      };
    }
    this.#reach(call.endpoint);
    this.#scheduler.changed(context.operationId);
    return { kind: 'accepted', operationId: context.operationId, existing: true };
  }

  /** A server that was not served so far may have operations anywhere. */
  #reach(endpoint: Endpoint): void {
    const served = this.#connections.scopes().length;
    this.#connections.register(endpoint);
    if (this.#connections.scopes().length > served) this.#scheduler.nudge();
  }

  /** Serves operations of this server from now on, too. */
  serve(endpoint: Endpoint): void {
    this.#connections.register(endpoint);
    this.#scheduler.nudge();
  }

  /**
   * Asks for a cancel (B9), recorded before anything is sent. Refused where it is too late or the server has none; what
   * came of it is said by the receipt.
   */
  cancel(operationId: string, by = 'caller', reason: string | null = null): Promise<CommandAnswer> {
    return this.#command(operationId, 'cancel.request', () => cancel(this.env, operationId, by, reason));
  }

  /**
   * Answers a round of questions (B7). Refused for another round or schema, after the deadline, a second time, and where
   * the reply does not fit.
   */
  answer(given: {
    readonly operationId: string;
    readonly round: number;
    readonly schemaDigest: string;
    readonly reply: InputReply;
  }): Promise<CommandAnswer> {
    return this.#command(given.operationId, 'input.reply', () => answer(this.env, given));
  }

  /** A human's verdict on an operation that is PARKED; refused for any other, and where it does not fit. `by`: who says so. */
  reconcile(operationId: string, by: string, what: Reconciliation): Promise<CommandAnswer> {
    return this.#command(operationId, `reconcile.${what.verb}`, () => reconcile(this.env, operationId, by, what));
  }

  async #command(operationId: string, event: string, give: () => Promise<CommandAnswer>): Promise<CommandAnswer> {
    const answered = await inCommand(this.env, operationId, event, give);
    this.#scheduler.changed(operationId);
    return answered;
  }

  /** The committed record, or `null`. */
  load(operationId: string): Promise<Opened | null> {
    return this.env.store.load(operationId);
  }

  /** The receipt with its released output, also of a purged record; `null` while the operation is not over, and without a receipt. */
  async outcome(operationId: string): Promise<TerminalOutcome | null> {
    return readOutcome(this.env.ledger, operationId);
  }

  /**
   * Follows the committed states of an operation until it is over. `signal` stops the *waiting* only (B14).
   * Survives an unreachable ledger.
   */
  async *follow(operationId: string, signal?: AbortSignal): AsyncGenerator<Opened> {
    yield* followOperation(this.env, operationId, signal);
  }

  /**
   * Waits for the terminal receipt. Rejects with `OperationParked` when a human has to decide, with `OperationPurged` when
   * its receipt was purged, and with the signal's reason when the waiting is stopped; none changes the operation.
   */
  async wait(operationId: string, signal?: AbortSignal): Promise<TerminalOutcome> {
    for await (const { snapshot } of this.follow(operationId, signal)) {
      if (snapshot.status === 'done') break;
      const { parked } = snapshot.context;
      if (parked) throw new OperationParked(operationId, parked.reason, parked.note);
    }
    signal?.throwIfAborted();
    return finalOutcome(this.env.ledger, operationId);
  }
}

/** The executor of the shadows: the same servers and adapters, and nobody to ask and nothing to release (R1). */
function shadowExecutor({ shadowLedger: ledger, ...options }: ExecutorOptions): Executor | null {
  if (ledger === undefined) return null;
  if (ledger.kind !== 'shadow') throw new Error('shadowLedger is to be opened with kind "shadow"');
  const { approval: _, outputGuards: __, requireDurableLedger: ___, ...alike } = options;
  return new Executor({ ...alike, ledger, namespace: shadowNamespace(options.namespace) });
}

function otherSide(side: Side, rule: string | null): SubmitAnswer {
  return {
    kind: 'refused',
    reason: `this call takes the side "${side}"${rule === null ? '' : ` (rule: ${rule})`}, for good`,
    next:
      side === 'shadow'
        ? 'make the ordinary call, by executor.shadow(call, ordinary): a shadow is no way to get an outcome'
        : 'make the call as it was made before there were operations; a retry takes the same side',
  };
}

/** A call that was made is never made again, however little is left of it. */
function madeBefore(call: ToolCall, tombstone: Tombstone, requestDigest: string): SubmitAnswer {
  const next =
    tombstone.receiptPurgedAt === null
      ? `outcome() of the same call node gives its receipt; another call needs a node id of its own`
      : 'another call needs a node id of its own';
  if (tombstone.requestDigest !== requestDigest) {
    return {
      kind: 'refused',
      reason: `the call node ${call.callNodeId} already made another request: ${purgedWords(tombstone)}`,
      next,
    };
  }
  return { kind: 'refused', reason: purgedWords(tombstone), next };
}
