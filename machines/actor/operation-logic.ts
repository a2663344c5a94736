/**
 * A tool operation as an XState actor: `invoke: { src: 'toolOperation', input, onDone }`. The actor is a handle on the
 * ledger record: its snapshot is the last *committed* one, events sent to it become commands, its output is the terminal
 * receipt, and what a parent persists of it is the operation's id alone. A restored handle attaches and never creates.
 */
import type { ActorLogic, ActorScope, Snapshot } from 'xstate';
import { z } from 'zod';
import type { ToolOperationContext } from '../tool-operation/context.ts';
import { describedDefinition } from '../tool-operation/descriptions.ts';
import type { ToolCall } from './call.ts';
import type { Executor } from './executor.ts';
import { untilDefinite } from './keep.ts';
import { wordsOf } from './log.ts';
import { CallRefused, OperationParked } from './operation-error.ts';
import { finalOutcome, type TerminalOutcome } from './outcome.ts';
import type { Opened } from './store.ts';

/** What a parent may send: everything else (xstate's own `xstate.*` above all) is dropped, never committed. */
export type OperationHandleEvent =
  | { readonly type: 'cancel'; readonly reason?: string }
  | { readonly type: 'toolop.committed'; readonly opened: Opened }
  | { readonly type: 'toolop.over'; readonly outcome: TerminalOutcome }
  | { readonly type: 'toolop.failed'; readonly error: unknown };

/** Where the operation stands, as it is committed. Persisted, it is the operation's id and how the actor ended, if it has. */
export type OperationLogicSnapshot = Snapshot<TerminalOutcome> & {
  /** `null` until the record exists. */
  readonly operationId: string | null;
  readonly call: ToolCall | null;
  /** State of the last committed record: the inspector lights it. */
  readonly value: unknown;
  readonly context: ToolOperationContext | null;
};
/** Takes a `ToolCall` as its input, and `{ type: "cancel", reason? }` as an event; gives a `TerminalOutcome`. */
export type OperationLogic = ActorLogic<OperationLogicSnapshot, OperationHandleEvent, ToolCall>;

const Persisted = z.looseObject({ operationId: z.string() });

export interface OperationLogicOptions {
  readonly executor: Executor;
  /** Whether a parked operation ends the actor with `onError` (the default) or leaves it waiting for reconciliation. */
  readonly failWhenParked?: boolean;
}

/**
 * The logic to name in `setup({ actors })`. Its actor fails with `CallRefused`, `OperationParked`, `OperationPurged`, or
 * with what the ledger or a check of the call threw. Stopping it lets go of the operation and cancels nothing (B14).
 */
export function createOperationLogic({ executor, failWhenParked = true }: OperationLogicOptions): OperationLogic {
  const waiting = new WeakMap<object, AbortController>();
  const cancels = new WeakMap<object, (reason: string | null) => void>();
  const logic = {
    // The inspector reads the definition from here and draws the real chart.
    config: describedDefinition,

    getInitialSnapshot: (_scope: unknown, input: ToolCall): OperationLogicSnapshot => ({
      status: 'active',
      output: undefined,
      error: undefined,
      operationId: null,
      call: input,
      value: {},
      context: null,
    }),

    transition(
      state: OperationLogicSnapshot,
      event: OperationHandleEvent,
      scope: ActorScope<OperationLogicSnapshot, OperationHandleEvent>,
    ): OperationLogicSnapshot {
      switch (event.type) {
        case 'cancel':
          cancels.get(scope.self)?.(event.reason ?? null);
          return state;
        case 'toolop.committed': {
          const { snapshot, record } = event.opened;
          return { ...state, operationId: record.operationId, value: snapshot.value, context: snapshot.context };
        }
        case 'toolop.over':
          return { ...state, status: 'done', output: event.outcome, error: undefined };
        case 'toolop.failed':
          return { ...state, status: 'error', error: event.error, output: undefined };
        default:
          // `xstate.stop` arrives here when the parent leaves: the handle lets go, the operation goes on (B14).
          waiting.get(scope.self)?.abort();
          return state;
      }
    },

    start(state: OperationLogicSnapshot, scope: ActorScope<OperationLogicSnapshot, OperationHandleEvent>): void {
      if (state.status !== 'active') return;
      const stop = new AbortController();
      waiting.set(scope.self, stop);
      const tell = (event: OperationHandleEvent) => {
        if (!stop.signal.aborted) scope.self.send(event);
      };
      let found: (operationId: string) => void = () => undefined;
      const known = new Promise<string>((resolve) => {
        found = resolve;
      });
      // A wish that comes before the record exists waits for it; one that meets an absent ledger waits for that.
      cancels.set(scope.self, (reason) => {
        known
          .then((id) =>
            untilDefinite(executor.env, id, 'cancel', stop.signal, () => executor.cancel(id, 'parent', reason)),
          )
          .catch((error: Error) =>
            executor.env.log({ level: 'error', event: 'cancel.lost', detail: { why: wordsOf(error) } }),
          );
      });
      void attend(executor, state, failWhenParked, stop.signal, tell, found).catch((error: unknown) =>
        tell({ type: 'toolop.failed', error }),
      );
    },

    getPersistedSnapshot: (state: OperationLogicSnapshot) => ({
      status: state.status,
      output: state.output,
      error: state.error,
      // Known from the call alone: also a parent persisted before the record exists re-attaches to the right one.
      operationId: state.operationId ?? (state.call ? executor.operationIdOf(state.call) : null),
    }),

    restoreSnapshot(persisted: Snapshot<unknown>): OperationLogicSnapshot {
      const { operationId } = Persisted.parse(persisted);
      return { ...(persisted as OperationLogicSnapshot), operationId, call: null, value: {}, context: null };
    },
  };
  return logic as unknown as OperationLogic;
}

async function attend(
  executor: Executor,
  state: OperationLogicSnapshot,
  failWhenParked: boolean,
  signal: AbortSignal,
  tell: (event: OperationHandleEvent) => void,
  found: (operationId: string) => void,
): Promise<void> {
  let operationId = state.operationId;
  if (operationId === null) {
    if (!state.call) throw new Error('an operation handle needs a call');
    const answer = await executor.submit(state.call);
    if (answer.kind === 'refused') {
      throw new CallRefused(executor.operationIdOf(state.call), answer.reason, answer.next);
    }
    operationId = answer.operationId;
  }
  found(operationId);
  for await (const opened of executor.follow(operationId, signal)) {
    tell({ type: 'toolop.committed', opened });
    const { parked } = opened.snapshot.context;
    if (parked && failWhenParked) throw new OperationParked(operationId, parked.reason, parked.note);
  }
  if (signal.aborted) return;
  tell({ type: 'toolop.over', outcome: await finalOutcome(executor.env.ledger, operationId) });
}
