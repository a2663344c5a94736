/** What the performed walks are worth shows in noticing a bug that was planted in the executors. */
import { effects } from '../../../machines/actor/effects/index.ts';
import type { OperationMachine } from '../../../machines/tool-operation/snapshot.ts';
import type { Effects } from '../system/performance.ts';
import { PLANTED } from '../variants.ts';
import type { Walk } from './plan.ts';
import { walkText } from './plan-file.ts';
import { stepsOf } from './planning.ts';
import type { NamedStep } from './steps.ts';
import type { Servers } from './theatre.ts';
import { walkOn } from './walks.ts';

interface Bug {
  readonly machine?: () => OperationMachine;
  /** Does something else for a state than production does; until the walk is over. */
  readonly effects?: Partial<Effects>;
  /** A walk that could meet it. */
  readonly meets: (step: NamedStep) => boolean;
}

const takes = (what: RegExp) => (step: NamedStep) => step.applied.some(({ transition }) => what.test(transition ?? ''));

export const BUGS = {
  'the cursor guard is dropped': {
    machine: PLANTED['the cursor guard is dropped'],
    meets: ({ applied }) =>
      applied.some(
        ({ event, staleCursor, transition }) =>
          event.type === 'poll.status' && event.task.status === 'working' && staleCursor && transition === null,
      ),
  },
  'completed is accepted without its result': {
    machine: PLANTED['completed is accepted without its result'],
    meets: takes(/^TERMINAL_OBSERVED\.outcome result\.fetched/),
  },
  'a cancel that was only heard is taken for terminal': {
    machine: PLANTED['a cancel that was only heard is taken for terminal'],
    meets: takes(/^CANCEL_REQUESTED\.sending cancel\.acknowledged/),
  },
  'it parks for ever at the first failure': {
    machine: PLANTED['it parks for ever at the first failure'],
    meets: takes(/^WORKING\.polling poll\.failed/),
  },
  'the effect is performed before its commit': {
    effects: {
      beginSubmit: (drive, issued, signal) =>
        effects.submit(Object.assign(drive, { becomesSender: () => true }), issued, signal),
    },
    meets: takes(/^SUBMITTING\.queued submit\.begin/),
  },
} as const satisfies Record<string, Bug>;
export type BugName = keyof typeof BUGS;

export interface Noticed {
  readonly walk: string;
  readonly by: string;
}

/** The first of the walks that could meet the bug and notices it; `null`: none of so many does. */
export async function notice(
  servers: Servers,
  bug: BugName,
  walks: readonly Walk[],
  address: string | null,
): Promise<Noticed | null> {
  const { machine, effects: planted, meets }: Bug = BUGS[bug];
  const shortestFirst = [...walks].sort((one, other) => one.choices.length - other.choices.length);
  let tried = 0;
  for (const walk of shortestFirst) {
    if (!(await stepsOf(walk)).some(meets)) continue;
    if (tried++ === MOST) return null;
    const { divergence, violations } = await withEffects(planted ?? {}, () =>
      walkOn(servers, walk, { address, ...(machine ? { machine: machine() } : {}) }),
    );
    const by = divergence ?? violations.join('; ');
    if (by !== '') return { walk: walkText(walk), by };
  }
  return null;
}
const MOST = 10;

/** The table of the executors is one for the process: nothing else is performed meanwhile. */
async function withEffects<T>(planted: Partial<Effects>, perform: () => Promise<T>): Promise<T> {
  const production = { ...effects };
  Object.assign(effects, planted);
  try {
    return await perform();
  } finally {
    Object.assign(effects, production);
  }
}
