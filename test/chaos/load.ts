/** A steady stream of new calls: short and long tasks, questions, failures, cancels at random, repeated submissions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolCall } from '../../machines/index.ts';
import type { Script } from '../kit/servers/mcp-2025-11-25/options.ts';
import type { Random } from '../support/random.ts';
import type { Fleet } from './fleet.ts';

export interface Target {
  readonly url: string;
  /** The server answers at once for some calls; one that answers look-ups by key must not forget those. */
  readonly atOnce: boolean;
}

/** How one call is to live: `twice`, handed to two executors at once; `cancelAfter` ms. */
interface Life {
  readonly call: ToolCall;
  readonly cancelAfter: number | null;
  readonly twice: boolean;
}

export class Load {
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #targets: readonly Target[];
  readonly #under = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #made = 0;
  /** The nodes of the calls that an executor took. */
  readonly taken = new Set<string>();
  cancels = 0;

  constructor(fleet: Fleet, targets: readonly Target[], random: Random) {
    this.#fleet = fleet;
    this.#targets = targets;
    this.#random = random;
  }

  get made(): number {
    return this.#made;
  }

  /** Calls that nobody has taken yet. */
  get pending(): number {
    return this.#under.size;
  }

  async run(perSecond: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const life = this.#live(this.#next()).catch((error: Error) => {
        this.#fleet.troubles.push(`the load failed: ${error.message}`);
      });
      this.#under.add(life);
      void life.finally(() => this.#under.delete(life));
      await sleep(this.#random.between(0, 2_000 / perSecond), undefined, { signal: this.#stop.signal }).catch(
        () => undefined,
      );
    }
  }

  /** No new calls. Those that were made are still submitted until an executor took them. */
  stop(): void {
    this.#stop.abort();
  }

  #next(): Life {
    const random = this.#random;
    const target = random.pick(this.#targets);
    const callNodeId = `node-${this.#made++}`;
    const { script, cancelAfter } = this.#script(target);
    const call: ToolCall = {
      callNodeId,
      endpoint: { kind: 'http', url: target.url },
      tool: random.chance(0.3) ? 'typed' : 'work',
      arguments: { script: { pollInterval: 250, ...script, callNode: callNodeId } },
      effectFree: random.chance(0.1),
    };
    return { call, cancelAfter, twice: random.chance(0.15) };
  }

  #script(target: Target): { script: Script; cancelAfter: number | null } {
    const random = this.#random;
    const kind = random.next();
    const calm = (script: Script) => ({ script, cancelAfter: random.chance(0.08) ? random.between(0, 2_000) : null });
    if (kind < 0.4) return calm({ ms: random.between(0, 800) });
    if (kind < 0.55) return calm({ ms: random.between(3_000, 8_000) });
    if (kind < 0.7) return calm({ ms: random.between(0, 500), ask: random.between(1, 2) });
    if (kind < 0.76) return calm({ ms: random.between(0, 500), outcome: 'isError' });
    if (kind < 0.82) return calm({ ms: random.between(0, 500), outcome: 'rpcError' });
    if (kind < 0.86 && target.atOnce) return calm({ ms: random.between(0, 500), ignoreTask: true });
    return { script: { ms: random.between(1_000, 6_000) }, cancelAfter: random.between(100, 4_000) };
  }

  /** Submits until somebody takes the call (killed and stopped executors do not answer), then cancels, or looks. */
  async #live({ call, cancelAfter, twice }: Life): Promise<void> {
    if (twice) void this.#fleet.ask(this.#anybody(), { op: 'submit', call });
    while ((await this.#fleet.ask(this.#anybody(), { op: 'submit', call })).kind !== 'accepted') await sleep(250);
    this.taken.add(call.callNodeId);
    if (cancelAfter === null) {
      void this.#fleet.ask(this.#anybody(), { op: 'outcome', call });
      return;
    }
    await sleep(cancelAfter);
    this.cancels++;
    for (let tries = 0; tries < 20; tries++) {
      if ((await this.#fleet.ask(this.#anybody(), { op: 'cancel', call })).kind !== 'error') return;
      await sleep(250);
    }
  }

  #anybody(): number {
    return this.#random.between(0, this.#fleet.size - 1);
  }
}
