/** What the page is told of the programs that send: plain JSON. Words of programs are text in it, with whatever they hold. */

export type ActorStatus = 'active' | 'done' | 'error' | 'stopped';

export interface ActorRow {
  readonly actor: number;
  /** Of the same program, and kept; `null`: a root, or its parent is not known. */
  readonly parent: number | null;
  readonly name: string;
  readonly sessionId: string;
  readonly status: ActorStatus;
  /** Its active states in short; empty for what is no machine. */
  readonly state: string;
}

export interface ProgramView {
  readonly program: number;
  /** Where a page that sends was loaded from; `null` for a process. */
  readonly origin: string | null;
  readonly since: number;
  /** When it left. */
  readonly until: number | null;
  /** Frames that were refused, and why the last one was. */
  readonly refused: { readonly count: number; readonly last: string } | null;
  readonly actors: readonly ActorRow[];
}

export interface TransitionView {
  /** An event by name, or `after 1000`, `always`, `done`. */
  readonly on: string;
  readonly targets: readonly string[];
  readonly guard: string | null;
  readonly actions: readonly string[];
}

export type StateKind = 'atomic' | 'compound' | 'parallel' | 'final' | 'history';

export interface StateView {
  /** Counted through the whole definition: what is lit is named by it. */
  readonly at: number;
  readonly key: string;
  readonly kind: StateKind;
  readonly initial: boolean;
  readonly description: string | null;
  /** `entry: …`, `exit: …`, `invoke: …`. */
  readonly notes: readonly string[];
  readonly transitions: readonly TransitionView[];
  readonly states: readonly StateView[];
}

export interface StepView {
  /** Counted through the life of the actor. */
  readonly step: number;
  readonly at: number;
  readonly event: string;
  /** Who sent it, by name. */
  readonly from: string | null;
  /** The event as JSON, where it holds more than its type. */
  readonly payload: string | null;
  /** What came of it, in short; `null`: nothing was seen of it. */
  readonly state: string | null;
  readonly changed: boolean;
}

export interface ActorView extends ActorRow {
  readonly program: number;
  /** The program is there. */
  readonly connected: boolean;
  readonly since: number;
  /** The machine; `null`: it is none, or `missing` says why it is not known. */
  readonly definition: StateView | null;
  readonly missing: string | null;
  /** The definition is that of an operation, whose chart the page has. */
  readonly drawn: boolean;
  /** Active states, by `at`. */
  readonly lit: readonly number[];
  readonly tags: readonly string[];
  readonly context: string | null;
  readonly output: string | null;
  readonly error: string | null;
  readonly log: readonly StepView[];
  /** Older steps that are not kept. */
  readonly dropped: number;
}

/** Everything on the screen. */
export interface ReceivedView {
  readonly programs: readonly ProgramView[];
  /** The chosen one. */
  readonly actor: ActorView | null;
  /** Actors, and programs without one, that are no longer kept. */
  readonly droppedActors: number;
  readonly droppedPrograms: number;
  readonly limits: { readonly actors: number; readonly steps: number };
}

/** What the page is told of itself. */
export interface ReceiverSetup {
  /** Where programs send. */
  readonly socket: string;
  /** What a program needs, as code. */
  readonly code: string;
}
