/** One line of the table of faults: what is done, and what must be seen of it afterwards. */

import type { Executor, ExecutorOptions, TerminalReceipt, ToolCall } from '../../../machines/index.ts';
import type { ParkReason } from '../../../machines/tool-operation/context.ts';
import type { Control, Script, ScriptedOptions } from '../../kit/servers/mcp-2025-11-25.ts';
import type { RuleInput } from '../../kit/wire/rules.ts';
import type { Fate } from '../../kit/wire/wire.ts';
import type { Rig } from '../../support/rig.ts';
import type { Transport, WireLine } from '../lines.ts';

export type FaultRow = `F${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11}`;

/** What a scenario's steps have in hand. */
export interface Play {
  readonly rig: Rig;
  readonly line: WireLine;
  readonly executor: Executor;
  readonly call: ToolCall;
  /** The operation, which was submitted when the steps begin. */
  readonly id: string;
  /** Waits for a committed state; a region stands for all its states. */
  until(state: string): Promise<void>;
  /** Its task, once an id is known. */
  taskId(): Promise<string>;
  server(command: Control): Promise<void>;
  rules(...rules: readonly RuleInput[]): Promise<void>;
  /** Waits until this happened to a message on the wire, `times` (1) times. */
  met(fate: Fate, method: string, direction: RuleInput['direction'], times?: number): Promise<void>;
}

export interface Scenario {
  readonly row: FaultRow;
  readonly name: string;
  /** Default: both. */
  readonly on?: readonly Transport[];
  readonly server?: Partial<ScriptedOptions>;
  /** In force before the call is submitted; every one of them must be met. */
  readonly rules?: readonly RuleInput[];
  readonly script: Script;
  readonly call?: Partial<ToolCall>;
  readonly executor?: Partial<ExecutorOptions>;
  readonly steps?: (play: Play) => Promise<void>;
  /** States of the ledger, in this order; others may lie between. */
  readonly path: readonly string[];
  readonly never?: readonly string[];
  /** Requests that reached the server, by method: so many, or at least and at most so many. Default for `tools/call`: 1. */
  readonly seen?: Readonly<Record<string, number | readonly [atLeast: number, atMost: number]>>;
  /** The receipt, or why there is none. */
  readonly ends: { readonly receipt: Partial<TerminalReceipt> } | { readonly parked: ParkReason };
}

export const HOLD: Script = { outcome: 'hold' };
/** ms. On stdio a lost message is silence: it must not take the seconds that the other tests are patient for. */
export const IMPATIENT: Partial<ExecutorOptions> = { requestTimeoutMs: 500 };
/** More than any scenario meets. */
export const ALWAYS = 1_000;
