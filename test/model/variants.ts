/** The production chart with something changed on purpose: what a test, or an exploration, is worth shows in noticing it. */
import { createMachine } from 'xstate';
import { effects } from '../../machines/actor/effects/index.ts';
import { type GuardName, guards } from '../../machines/tool-operation/guards.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import type { OperationMachine } from '../../machines/tool-operation/snapshot.ts';
import type { Effects } from './system/performance.ts';

/** A state of the chart as it is written down; loosely typed, because a variant need not be a sensible chart. */
export interface StateConfig {
  on?: Record<string, unknown>;
  states?: Record<string, StateConfig>;
  meta?: { effect?: string };
  [key: string]: unknown;
}

/** Arrays and plain objects are copied, functions shared. */
function copied<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copied) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copied(entry)])) as T;
}

/** The chart after `edit` changed its written form. */
export function edited(edit: (chart: StateConfig) => void): OperationMachine {
  const chart = copied(toolOperation.config) as unknown as StateConfig;
  edit(chart);
  return createMachine(chart as never, toolOperation.implementations as never) as unknown as OperationMachine;
}

/** The chart with one guard that always says the same. */
export function forced(guard: GuardName, says: boolean): OperationMachine {
  if (!(guard in guards)) throw new Error(`there is no guard ${guard}`);
  return toolOperation.provide({ guards: { [guard]: () => says } });
}

export function stateOf(chart: StateConfig, path: string): StateConfig {
  let state = chart;
  for (const name of path.split('.')) {
    const child = state.states?.[name];
    if (!child) throw new Error(`there is no state ${path}`);
    state = child;
  }
  return state;
}

/** The bugs that a protocol like this one is most likely to be given, planted one at a time. */
export const PLANTED = {
  'the cursor guard is dropped': () => forced('matchesPollCursor', true),
  'completed is accepted without its result': () =>
    edited((chart) => {
      const outcome = stateOf(chart, 'TERMINAL_OBSERVED.outcome');
      outcome.meta = { effect: 'acceptTerminal' };
      outcome.on = {
        ...outcome.on,
        'terminal.accept': { guard: 'acceptTerminal', target: '#toolOperation.ACCEPTED', actions: 'acceptOutcome' },
      };
    }),
  'a cancel that was only heard is taken for terminal': () =>
    edited((chart) => {
      const sending = stateOf(chart, 'CANCEL_REQUESTED.sending');
      sending.on = {
        ...sending.on,
        'cancel.acknowledged': {
          guard: 'isEvidenceOfTask',
          target: '#toolOperation.CANCEL_REQUESTED.confirmed',
          actions: 'confirmCancel',
        },
      };
    }),
  'a question that was answered is asked again': () => forced('asksOnlyNew', true),
  'it parks for ever at the first failure': () =>
    edited((chart) => {
      const disputed = {
        target: '#toolOperation.PARKED.disputed',
        actions: { type: 'park', params: { reason: 'wait-budget', restsAt: 'disputed' } },
      };
      stateOf(chart, 'WORKING').on = { ...stateOf(chart, 'WORKING').on, 'poll.failed': disputed };
    }),
} as const satisfies Record<string, () => OperationMachine>;

/** ... and the one of an executor: the call is sent before the record says so. */
export const HASTY: Effects = {
  ...effects,
  beginSubmit: async (drive, issued, signal) =>
    effects.submit(Object.assign(drive, { becomesSender: () => true }), issued, signal),
};
