/** The steps of one operation, as the actor that it is for the inspector. No live actor exists: it is told by hand. */
import { createInspector } from '@statelyai/inspect';
import type { Opened } from '../../machines/actor/store.ts';
import type { HistoryEntry } from '../../machines/index.ts';
import { describedDefinition } from '../../machines/tool-operation/descriptions.ts';

const SESSION = 'toolOperation';

export class OperationStream {
  readonly #inspector;
  readonly #actor = { sessionId: SESSION, logic: { config: describedDefinition } } as never;
  #told = 0;

  /** `full`: with everything that the record holds. */
  constructor(
    send: (frame: unknown) => void,
    private readonly full: boolean,
  ) {
    this.#inspector = createInspector({ send });
  }

  /** `history`: all of it, with the refused facts; what was told before is not told again. */
  tell({ snapshot }: Opened, history: readonly HistoryEntry[]): void {
    const { value, status, context } = snapshot;
    const shown = { value, status, context: this.full ? context : countersOf(context) };
    if (this.#told === 0) this.#inspector.actor(this.#actor, shown);
    for (const { event: type, refused } of history.slice(this.#told)) {
      const event = refused ? { type, refused } : { type };
      this.#inspector.event(this.#actor, event);
      this.#inspector.snapshot(this.#actor, shown, { event });
    }
    this.#told = Math.max(1, history.length);
  }
}

/** Named one by one: a field that is added to the record is not sent until somebody says so. */
function countersOf(context: Opened['snapshot']['context']) {
  const { executionEpoch, attempt, cancelGeneration, pollCursor, inputRound, failures, serverStatus } = context;
  const parked = context.parked?.reason ?? null;
  return { executionEpoch, attempt, cancelGeneration, pollCursor, inputRound, failures, serverStatus, parked };
}
