/**
 * Breadth-first over every reachable state of a closed system. A state is kept as 64 bits of hash, its predecessor and the
 * number of the step that led to it; everything else is played again when a trace is wanted.
 */

import { broken, isSettled, isTerminal, mustEnd } from './invariants.ts';
import { NotPerformedYet } from './records.ts';
import type { Step, System } from './system.ts';
import { At, decoded, encoded, type World } from './world.ts';

export interface Finding {
  readonly what: string;
  /** The number of the state in which it is so. */
  readonly state: number;
  /** What the last step was, where the step itself is at fault. */
  readonly step: Step | null;
}

export interface Explored {
  readonly states: number;
  readonly edges: number;
  readonly depth: number;
  readonly complete: boolean;
  readonly findings: readonly Finding[];
  readonly ms: number;
  readonly paths: ReadonlySet<string>;
  trace(state: number): readonly { readonly label: string; readonly world: World }[];
}

export interface ExploreOptions {
  readonly maxStates: number;
  /** Stops after so many findings. */
  readonly maxFindings?: number;
  readonly liveness?: boolean;
  /** Goes no further after this time of the process, ms. */
  readonly deadline?: number;
  readonly onProgress?: (states: number, depth: number) => void;
}

export async function explore(system: System, options: ExploreOptions): Promise<Explored> {
  const began = performance.now();
  const { maxStates, maxFindings = 3, liveness = true } = options;
  const seen = new HashTable();
  const parents = new Numbers();
  const choices = new Numbers();
  const edgeFrom = new Numbers();
  const edgeTo = new Numbers();
  /** Per state, as bits: settled, terminal, must end, has time left to pass. */
  const marks = new Numbers();
  const findings: Finding[] = [];
  const paths = new Set<string>();
  let frontier: string[] = [];
  let complete = true;
  let edges = 0;
  let depth = 0;

  const enter = (world: World, parent: number, choice: number): number => {
    const text = encoded(world);
    const known = seen.add(text, parents.size);
    if (known >= 0) return known;
    const state = parents.size;
    parents.push(parent);
    choices.push(choice);
    frontier.push(text);
    paths.add(system.record(world).path);
    marks.push(
      (isSettled(system, world) ? 1 : 0) |
        (isTerminal(system, world) ? 2 : 0) |
        (mustEnd(system, world) ? 4 : 0) |
        ((world[At.times] as number) > 0 ? 8 : 0),
    );
    const what = broken(system, world);
    if (what !== null) findings.push({ what, state, step: null });
    return state;
  };

  enter(system.start(), -1, -1);
  let first = 0;
  while (frontier.length > 0 && findings.length < maxFindings) {
    const level = frontier;
    frontier = [];
    for (const [index, text] of level.entries()) {
      const state = first + index;
      const steps = await expanded(system, decoded(text));
      for (const [choice, step] of steps.entries()) {
        if (step.violation !== null) findings.push({ what: step.violation, state, step });
        edges++;
        const to = enter(step.next, state, choice);
        if (liveness && (step.kind === 'progress' || step.kind === 'time')) {
          edgeFrom.push(step.kind === 'time' ? -1 - state : state);
          edgeTo.push(to);
        }
      }
      if (findings.length >= maxFindings) break;
      if (parents.size >= maxStates || performance.now() > (options.deadline ?? Number.POSITIVE_INFINITY)) {
        complete = false;
        break;
      }
    }
    options.onProgress?.(parents.size, depth);
    first += level.length;
    if (!complete) break;
    depth++;
  }
  if (complete && findings.length === 0 && liveness) {
    findings.push(...stuck(parents.size, marks, edgeFrom, edgeTo).slice(0, maxFindings));
  }
  return {
    states: parents.size,
    edges,
    depth,
    complete,
    findings,
    ms: performance.now() - began,
    paths,
    trace: (state) => played(system, parents, choices, state),
  };
}

/** All steps; waits for performances that are not known yet. */
export async function expanded(system: System, world: World): Promise<Step[]> {
  for (;;) {
    try {
      return system.expand(world);
    } catch (error) {
      if (!(error instanceof NotPerformedYet)) throw error;
      await error.known;
    }
  }
}

function played(system: System, parents: Numbers, choices: Numbers, state: number) {
  const path: number[] = [];
  for (let at = state; at > 0; at = parents.get(at)) path.unshift(choices.get(at));
  let world = system.start();
  return path.map((choice) => {
    const step = system.expand(world)[choice] as Step;
    world = step.next;
    return { label: step.label, world };
  });
}

/**
 * Liveness, backwards. From every state a settled one can be reached by progress and time alone. And where the server can
 * answer, a terminal one by progress alone: the graph is finite, so a fair run gets there.
 */
function stuck(size: number, marks: Numbers, from: Numbers, to: Numbers): Finding[] {
  const settles = reaching(size, from, to, (state) => (marks.get(state) & 1) !== 0, true);
  const ends = reaching(size, from, to, (state) => (marks.get(state) & 2) !== 0, false);
  const findings: Finding[] = [];
  for (let state = 0; state < size && findings.length < 3; state++) {
    const timeIsLeft = (marks.get(state) & 8) !== 0;
    if (timeIsLeft && settles[state] === 0)
      findings.push({ what: 'neither a terminal nor a parked state can be reached', state, step: null });
    else if ((marks.get(state) & 4) !== 0 && ends[state] === 0)
      findings.push({ what: 'the server can answer, and the operation cannot end', state, step: null });
  }
  return findings;
}

/** The states from which a goal can be reached along the edges (`from` of an edge of time is `-1 - state`). */
function reaching(size: number, from: Numbers, to: Numbers, isGoal: (state: number) => boolean, withTime: boolean) {
  const starts = new Int32Array(size + 1);
  const source = (edge: number) => {
    const value = from.get(edge);
    return value >= 0 ? value : withTime ? -1 - value : -1;
  };
  for (let edge = 0; edge < to.size; edge++)
    if (source(edge) >= 0) starts[to.get(edge) + 1] = (starts[to.get(edge) + 1] as number) + 1;
  for (let state = 0; state < size; state++)
    starts[state + 1] = (starts[state + 1] as number) + (starts[state] as number);
  const incoming = new Int32Array(starts[size] as number);
  const fill = starts.slice();
  for (let edge = 0; edge < to.size; edge++) {
    const origin = source(edge);
    if (origin < 0) continue;
    const at = fill[to.get(edge)] as number;
    incoming[at] = origin;
    fill[to.get(edge)] = at + 1;
  }
  const reached = new Uint8Array(size);
  const queue: number[] = [];
  for (let state = 0; state < size; state++) {
    if (!isGoal(state)) continue;
    reached[state] = 1;
    queue.push(state);
  }
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (let at = starts[next] as number; at < (starts[next + 1] as number); at++) {
      const origin = incoming[at] as number;
      if (reached[origin] === 1) continue;
      reached[origin] = 1;
      queue.push(origin);
    }
  }
  return reached;
}

/** A growing row of 32-bit numbers. */
class Numbers {
  #row = new Int32Array(1024);
  size = 0;
  push(value: number): void {
    if (this.size === this.#row.length) {
      const larger = new Int32Array(this.#row.length * 2);
      larger.set(this.#row);
      this.#row = larger;
    }
    this.#row[this.size++] = value;
  }
  get(index: number): number {
    return this.#row[index] as number;
  }
}

/** Texts by 64 bits of hash: at ten million states two of them collide with a chance of one in a hundred thousand. */
class HashTable {
  #size = 0;
  #high = new Uint32Array(1 << 16);
  #low = new Uint32Array(1 << 16);
  #states = new Int32Array(1 << 16).fill(-1);

  /** The state that is known under this text, or -1: it is now known as `state`. */
  add(text: string, state: number): number {
    let high = 0x811c9dc5;
    let low = 0x9747b28c;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      high = Math.imul(high ^ unit, 0x01000193);
      low = Math.imul(low ^ (unit + 0x9e37), 0x85ebca6b);
      low ^= low >>> 13;
    }
    high = mixed(high ^ (low >>> 7));
    low = mixed(low);
    const slot = this.#find(high, low);
    const known = this.#states[slot] as number;
    if (known >= 0) return known;
    this.#put(slot, high, low, state);
    if (++this.#size * 2 > this.#states.length) this.#grow();
    return -1;
  }

  #find(high: number, low: number): number {
    const mask = this.#states.length - 1;
    let slot = low & mask;
    while ((this.#states[slot] as number) >= 0 && (this.#high[slot] !== high >>> 0 || this.#low[slot] !== low >>> 0))
      slot = (slot + 1) & mask;
    return slot;
  }

  #put(slot: number, high: number, low: number, state: number): void {
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#states[slot] = state;
  }

  #grow(): void {
    const [high, low, states] = [this.#high, this.#low, this.#states];
    this.#high = new Uint32Array(states.length * 2);
    this.#low = new Uint32Array(states.length * 2);
    this.#states = new Int32Array(states.length * 2).fill(-1);
    for (let slot = 0; slot < states.length; slot++) {
      if ((states[slot] as number) < 0) continue;
      this.#put(
        this.#find((high[slot] as number) | 0, (low[slot] as number) | 0),
        high[slot] as number,
        low[slot] as number,
        states[slot] as number,
      );
    }
  }
}

function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return hash ^ (hash >>> 16);
}
