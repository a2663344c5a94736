/** The definition of any machine, as the boxes that are drawn of it. What cannot be read of it is left out, and the rest stays. */
import { z } from 'zod';
import { clip } from './text.ts';
import type { StateKind, StateView, TransitionView } from './view.ts';

export const MAX_DEFINITION = 512 * 1024;
const MAX_STATES = 2_000;
/** Of one state. */
const MAX_TRANSITIONS = 200;
const MAX_DEPTH = 40;
const MAX_WORDS = 300;
/** The senders of the inspector put these in the place of what lies too deep. */
const CUT = /^\[(Object|Array)\]$/;

const anything = z.unknown().optional();
const words = z.string().transform((text) => clip(text, MAX_WORDS));
const table = z.record(z.string(), z.unknown()).catch({});
const Config = z.object({
  id: words.optional().catch(undefined),
  type: z.enum(['atomic', 'compound', 'parallel', 'final', 'history']).optional().catch(undefined),
  initial: z
    .union([words, z.object({ target: words }).transform(({ target }) => target)])
    .optional()
    .catch(undefined),
  description: words.optional().catch(undefined),
  ...{ on: table, after: table, states: table },
  ...{
    always: anything,
    onDone: anything,
    invoke: anything,
    entry: anything,
    exit: anything,
  },
});
const Transition = z.object({
  target: anything,
  guard: anything,
  cond: anything,
  actions: anything,
});
const Invoke = z.object({
  id: words.optional(),
  src: anything,
  onDone: anything,
  onError: anything,
});

/** `machine`: `null`: a definition that describes none. */
export type Definition = { readonly machine: StateView | null } | { readonly problem: string };

export function readDefinition(text: string): Definition {
  if (text.length > MAX_DEFINITION) return { problem: 'its definition is too large to be drawn' };
  try {
    const config = JSON.parse(text) as unknown;
    const isMachine = z.looseObject({ states: z.record(z.string(), z.unknown()) }).safeParse(config).success;
    return { machine: isMachine ? new Reading().stateOf(config, '', false, 0) : null };
  } catch {
    return { problem: 'its definition cannot be read' };
  }
}

class Reading {
  #count = 0;

  stateOf(given: unknown, key: string, initial: boolean, depth: number): StateView {
    const at = this.#count;
    this.#count += 1;
    const read = Config.safeParse(given);
    const config = read.success ? read.data : Config.parse({});
    const isCut = depth > MAX_DEPTH || !read.success;
    const inner = isCut ? [] : Object.entries(config.states);
    const states = inner.flatMap(([name, state]) =>
      this.#count < MAX_STATES ? [this.stateOf(state, name, name === config.initial, depth + 1)] : [],
    );
    // Senders sort the names: what is left to tell is where it begins, and where it ends.
    states.sort((one, other) => placeOf(one) - placeOf(other));
    const transitions = transitionsOf(config);
    const notes = [
      ...notesOf(config),
      ...(states.length < inner.length ? ['more states than are drawn'] : []),
      ...(transitions.length > MAX_TRANSITIONS ? ['more transitions than are drawn'] : []),
    ];
    return {
      ...{ at, initial, states },
      key: clip(depth === 0 ? (config.id ?? '(machine)') : key, MAX_WORDS),
      kind: config.type ?? kindOf(states),
      description: config.description ?? null,
      notes: isCut ? ['too deep: the program did not send it (serializationDepthLimit)'] : notes,
      transitions: transitions.slice(0, MAX_TRANSITIONS),
    };
  }
}

const placeOf = ({ initial, kind }: StateView): number => (initial ? 0 : kind === 'final' ? 2 : 1);

const kindOf = (states: readonly StateView[]): StateKind => (states.length > 0 ? 'compound' : 'atomic');

function notesOf({ entry, exit, invoke }: z.output<typeof Config>): string[] {
  const invoked = listOf(invoke).map((one) => {
    const { id, src } = Invoke.safeParse(one).data ?? {};
    return [nameOf(src), id].filter((name) => name !== undefined && name !== '').join(' as ');
  });
  return [
    ...listOf(entry).map((action) => `entry: ${nameOf(action)}`),
    ...listOf(exit).map((action) => `exit: ${nameOf(action)}`),
    ...invoked.map((name) => `invoke: ${name}`),
  ];
}

function transitionsOf({ on, after, always, onDone, invoke }: z.output<typeof Config>): TransitionView[] {
  const invoked = listOf(invoke).flatMap((one) => {
    const read = Invoke.safeParse(one).data;
    const name = read?.id ?? nameOf(read?.src);
    return [...each(`done: ${name}`, read?.onDone), ...each(`error: ${name}`, read?.onError)];
  });
  return [
    ...Object.entries(on).flatMap(([event, given]) => each(event, given)),
    ...Object.entries(after).flatMap(([delay, given]) => each(`after ${delay}`, given)),
    ...each('always', always),
    ...each('done', onDone),
    ...invoked,
  ];
}

function each(on: string, given: unknown): TransitionView[] {
  return listOf(given).map((one) => {
    const { target, guard, cond, actions } = Transition.safeParse(one).data ?? { target: one };
    const asked = guard ?? cond;
    return {
      on: clip(on, MAX_WORDS),
      targets: listOf(target).map(nameOf),
      guard: asked === undefined ? null : nameOf(asked),
      actions: listOf(actions).map(nameOf),
    };
  });
}

const listOf = (given: unknown): readonly unknown[] =>
  given === undefined || given === null ? [] : Array.isArray(given) ? given.slice(0, 100) : [given];

/** Of an action, a guard, a source or a target: what it is called, where it is called anything. */
function nameOf(given: unknown): string {
  const named = typeof given === 'string' ? given : z.looseObject({ type: z.string() }).safeParse(given).data?.type;
  if (named === undefined || named === '') return 'inline';
  return CUT.test(named) ? '(not sent)' : clip(named, MAX_WORDS);
}

/** The states that a state value names, by where they stand in the definition. */
export function litOf(machine: StateView, value: unknown): number[] {
  const lit: number[] = [machine.at];
  const walk = ({ states }: StateView, part: unknown): void => {
    const inner: readonly (readonly [string, unknown])[] =
      typeof part === 'string' ? [[part, {}]] : Object.entries((part ?? {}) as object);
    const named = new Map(states.map((state) => [state.key, state]));
    for (const [key, next] of inner) {
      const state = named.get(clip(key, MAX_WORDS));
      if (!state) continue;
      lit.push(state.at);
      walk(state, next);
    }
  };
  walk(machine, value);
  return lit;
}
