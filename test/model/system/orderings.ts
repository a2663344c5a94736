/**
 * Random ways through the closed system (G1), swarm-style: each seed draws a server, a subset of the faults and an order of
 * everything. Chance alone seldom comes to what lies deep: half of the seeds set out from somewhere on a way that is known,
 * and what was possible on a way and was not drawn there has a way of its own, which turns off there. Then all is healed: the
 * operation has to come to its end by progress alone.
 */
import type { OperationMachine } from '../../../machines/tool-operation/snapshot.ts';
import { Random } from '../../support/random.ts';
import type { Setting } from './contracts.ts';
import { expanded } from './explore.ts';
import { broken, isSettled, isTerminal, mustEnd } from './invariants.ts';
import type { Effects } from './performance.ts';
import { type Bounds, type Step, System } from './system.ts';
import { type Way, wayText } from './way.ts';
import { At, encoded, type World } from './world.ts';

export interface Ordering {
  readonly way: Way;
  readonly setting: string;
  /** 53 bits over everything that happened, in its order. */
  readonly hash: number;
  readonly steps: number;
  readonly divergence: string | null;
}

/** A way that is known: the number of the step taken in each state, under these bounds. */
export interface Beginning {
  readonly setting: string;
  readonly bounds: Bounds;
  readonly choices: readonly number[];
}

/** What another system than that of the product has in its place, to see that a fault in it is noticed. */
export interface Others {
  readonly machine?: OperationMachine;
  readonly effects?: Effects;
}

/** How long a way is made worse before everything is healed, steps. */
const STORM = 60;
/** Far more than any operation needs. */
const PATIENCE = 5_000;
/** Expansions that are remembered; states come again and again. */
const REMEMBERED = 150_000;

/** State by state: how often each fault that was possible in it hit it. */
export type Matrix = Readonly<Record<string, Readonly<Record<string, number>>>>;

export class Orderings {
  readonly #systems: readonly System[];
  readonly #known = new Map<string, Step[]>();
  readonly #beginnings: readonly Beginning[];
  readonly #matrix: Record<string, Record<string, number>> = {};
  /** What was possible somewhere and was not drawn there, nor anywhere else so far: the way that takes it. */
  readonly #ways = new Map<string, Way>();

  /** `beginnings`: of these settings. */
  constructor(settings: readonly Setting[], beginnings: readonly Beginning[], { machine, effects }: Others = {}) {
    this.#systems = settings.map(({ contract, bounds }) => new System(contract, bounds, machine, effects));
    this.#beginnings = beginnings;
  }

  matrix(): Matrix {
    return this.#matrix;
  }

  /** Ways to all that was possible on the ways so far, and hit none of them. */
  unhit(): readonly Way[] {
    return [...this.#ways.values()];
  }

  /** One way; `tell` hears each step. `RangeError`: it turns off where nothing of that number can happen. */
  async walk(way: Way, tell: (label: string) => void = () => undefined): Promise<Ordering> {
    const random = new Random(way.seed);
    const beginning = this.#beginnings.length > 0 && random.chance(0.5) ? random.pick(this.#beginnings) : null;
    const system = beginning ? this.#systemOf(beginning) : random.pick(this.#systems);
    const hash = new Hash();
    let world = system.start(beginning?.bounds ?? drawn(random, system));
    let divergence: string | null = null;
    let steps = 0;
    const take = (step: Step) => {
      hash.add(step.label);
      tell(step.label);
      steps++;
      world = step.next;
      divergence ??= step.violation ?? broken(system, world);
    };
    const known = beginning?.choices.slice(0, random.between(0, beginning.choices.length)) ?? [];
    while (steps < known.length + STORM && divergence === null && !isTerminal(system, world)) {
      if (beginning && steps === known.length) world = system.withBounds(world, drawn(random, system));
      const possible = await this.#steps(system, world);
      if (possible.length === 0) break;
      const wanted = possible[known[steps] ?? -1] ?? random.pick(possible);
      const step = steps === way.turn?.after ? possible[way.turn.choice] : wanted;
      if (!step) break;
      this.#note({ system, world, possible, taken: step, steps, way });
      take(step);
    }
    if (way.turn && steps <= way.turn.after)
      throw new RangeError(`${wayText(way)} turns off where nothing is to be taken`);
    if (divergence === null) divergence = await this.#heal(system, random, () => world, take);
    return { way, setting: system.contract.name, hash: hash.value(system.contract.name), steps, divergence };
  }

  /** Nothing bad happens any more: terminal by progress alone where the server can answer, at rest in time elsewhere. */
  async #heal(system: System, random: Random, now: () => World, take: (step: Step) => void): Promise<string | null> {
    const byProgressAlone = mustEnd(system, now());
    const isOver = byProgressAlone ? isTerminal : isSettled;
    for (let steps = 0; !isOver(system, now()); steps++) {
      if (steps === PATIENCE) return 'healed, and it does not come to its end';
      const world = now().slice();
      if (!byProgressAlone) world[At.times] = 1;
      const all = await this.#steps(system, world);
      const timePasses = !byProgressAlone && random.chance(0.05);
      const wanted = all.filter(({ kind }) => kind === (timePasses ? 'time' : 'progress'));
      const possible = wanted.length > 0 ? wanted : all.filter(({ kind }) => kind === 'progress');
      if (possible.length > 0) take(random.pick(possible));
      else if (byProgressAlone) return 'healed, and nothing can happen any more';
    }
    return null;
  }

  #systemOf({ setting }: Beginning): System {
    const system = this.#systems.find(({ contract }) => contract.name === setting);
    if (!system) throw new Error(`there is no setting ${setting}`);
    return system;
  }

  async #steps(system: System, world: World): Promise<Step[]> {
    const key = `${system.contract.name} ${encoded(world)}`;
    const known = this.#known.get(key);
    if (known) return known;
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    const steps = await expanded(system, world);
    this.#known.set(key, steps);
    return steps;
  }

  #note({ system, world, possible, taken, steps, way }: Noted): void {
    const { path } = system.record(world);
    const hits = this.#matrix[path] ?? {};
    this.#matrix[path] = hits;
    if (isFault(taken)) {
      const fault = faultOf(taken);
      hits[fault] = (hits[fault] ?? 0) + 1;
      this.#ways.delete(`${path}: ${fault}`);
    }
    // From a turned way no other can be told to turn off.
    if (way.turn) return;
    for (const [choice, step] of possible.entries()) {
      if (!isFault(step)) continue;
      const fault = faultOf(step);
      hits[fault] ??= 0;
      if (hits[fault] > 0) continue;
      const pair = `${path}: ${fault}`;
      if (!this.#ways.has(pair)) this.#ways.set(pair, { seed: way.seed, turn: { after: steps, choice } });
    }
  }
}

interface Noted {
  readonly system: System;
  readonly world: World;
  readonly possible: readonly Step[];
  readonly taken: Step;
  /** Before this one. */
  readonly steps: number;
  readonly way: Way;
}

const isFault = ({ kind }: Step) => kind !== 'progress';

/** The kind of a fault, whoever it hit. */
export function faultOf({ kind, label }: Step): string {
  const words = label.replace(/\b[AB]\b/g, 'an executor');
  if (kind === 'fault' && /\(a lie\)$/.test(words)) return 'the server lies';
  if (/nobody listens/.test(words)) return 'the server cannot be reached';
  if (/owes (beginSubmit|requeue)/.test(words)) return 'creation is switched off';
  if (/and will again$/.test(words)) return 'the answer comes twice';
  if (/owes/.test(words)) return 'the server cannot be reached';
  return words.replace(/^(\w+) of an executor/, 'a request').replace(/to \w+ of an executor/, 'to a request');
}

/** A random subset of the faults, each up to twice. */
function drawn(random: Random, { bounds, contract }: System): Bounds {
  const some = (most: number) => (random.chance(0.5) ? 0 : random.between(1, most));
  return {
    crashes: some(2),
    losses: some(3),
    duplicates: some(1),
    times: some(2),
    humans: some(2),
    lies: contract.lies ? random.between(1, Math.max(1, bounds.lies)) : 0,
  };
}

class Hash {
  #high = 0x811c9dc5;
  #low = 0x9747b28c;
  add(text: string): void {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      this.#high = Math.imul(this.#high ^ unit, 0x01000193);
      this.#low = Math.imul(this.#low ^ (unit + 0x9e37), 0x85ebca6b);
      this.#low ^= this.#low >>> 13;
    }
  }
  value(salt: string): number {
    this.add(salt);
    return (this.#high >>> 11) * 2 ** 32 + (this.#low >>> 0);
  }
}
