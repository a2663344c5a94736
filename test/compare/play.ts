/** Plays one script with one contender, and gives what is left of it. */
import { type Arena, within } from './arenas/arena.ts';
import type { Client, Contender, Scene, Waiting } from './contenders/contender.ts';
import { type History, isOutcome, type Outcome, type Protocol, type Told } from './history.ts';
import type { Hand, Script } from './script.ts';

const PATIENCE_MS = 6_000;
/** Longer than a busy machine stands still, and shorter than the one answer that a script keeps back. */
const REQUEST_MS = 4_000;
/** What is on its way to the next step has come by then. */
const GRACE_MS = 250;
/** On loopback an answer has arrived by then; a client that polls every 50 ms does not sit still for longer. */
const SETTLED_MS = 25;
/** An outbox is looked at in its own time. */
const OUTBOX_MS = 1_500;
/** A step of a plot that never comes, because the contender gave up, is not waited for longer. */
const PLOT_MS = 4_000;

let calls = 0;

export async function play(script: Script, protocol: Protocol, contender: Contender, arena: Arena): Promise<History> {
  const performance = new Performance(script, protocol, contender, arena);
  try {
    return await performance.run();
  } finally {
    await performance.close();
  }
}

class Performance {
  readonly #memory = new Map<string, unknown>();
  readonly #callNodeId = `compare-${process.pid}-${calls++}`;
  readonly #clients: Client[] = [];
  readonly #told: Told[] = [];
  #waiting: Waiting[] = [];
  #asked = 0;
  readonly #handed: Outcome[] = [];
  #cancelAsked = false;

  constructor(
    private readonly script: Script,
    private readonly protocol: Protocol,
    private readonly contender: Contender,
    private readonly arena: Arena,
  ) {}

  async run(): Promise<History> {
    const client = await this.#open();
    this.#waiting.push(client.call());
    await this.script.plot?.(this.#hand());
    await this.#hear();
    const { afterwards } = this.script;
    if (afterwards !== undefined && this.#told.some(isUncertain)) {
      // On a connection of its own: the old one may be what is broken.
      const anew = await this.#open();
      this.#waiting = [afterwards === 'calls again' ? anew.call() : await anew.comeBack()];
      await this.#hear();
    }
    await within(PLOT_MS, () => this.arena.isQuiet());
    await this.#handOver();
    return {
      told: [...this.#told, ...this.#handed.filter((one) => !this.#told.some((known) => isSame(known, one)))],
      handedOver: this.#handed.length,
      asked: this.#asked,
      cancelAsked: this.#cancelAsked,
      truth: await this.arena.truth(),
    };
  }

  /** What is on its way to the next step gets there, and a second time where that happens. */
  async #handOver(): Promise<void> {
    const { knowable, status } = await this.arena.truth();
    const mayCome = this.#told.some(isOutcome) || (knowable && status !== 'working');
    if (mayCome) await within(OUTBOX_MS, () => this.#handed.length > 0);
    await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close().catch(() => undefined);
  }

  async #open(): Promise<Client> {
    // What an ended process would do with an outcome does not happen.
    const isAlive = () => this.#clients.includes(client);
    const client: Client = await this.contender.open(this.#scene(isAlive), this.#memory);
    this.#clients.push(client);
    return client;
  }

  #scene(isAlive: () => boolean): Scene {
    const { budgetMs, offers = 'nothing' } = this.script;
    return {
      protocol: this.protocol,
      url: this.arena.url,
      tool: this.arena.tool,
      arguments: this.arena.arguments,
      offers,
      callNodeId: this.#callNodeId,
      requestTimeoutMs: REQUEST_MS,
      ...(budgetMs === undefined ? {} : { budgetMs }),
      ask: async () => {
        this.#asked += 1;
        return 'tide';
      },
      handedOver: (outcome) => {
        if (isAlive()) this.#handed.push(outcome);
      },
    };
  }

  async #hear(): Promise<void> {
    this.#told.push(...(await Promise.all(this.#waiting.map((one) => this.#patiently(one)))));
  }

  async #patiently({ told }: Waiting): Promise<Told> {
    let timer: NodeJS.Timeout | undefined;
    const end = new Promise<Told>((resolve) => {
      timer = setTimeout(() => resolve({ kind: 'silent' }), this.script.patienceMs ?? PATIENCE_MS);
    });
    return Promise.race([told, end]).finally(() => clearTimeout(timer));
  }

  #hand(): Hand {
    const { arena } = this;
    return {
      protocol: this.protocol,
      ...arena.deeds,
      fault: (...faults) => arena.fault(faults),
      created: () => this.#until(async () => (await arena.operations()) > 0),
      answered: () => this.#until(async () => (await arena.answers()) > 0),
      seen: (step, times) => this.#until(async () => (await arena.count(step)) >= times),
      met: () => this.#until(async () => (await arena.unmet()).length === 0),
      settled: () => new Promise((resolve) => setTimeout(resolve, SETTLED_MS)),
      cancel: async () => {
        this.#cancelAsked = true;
        // What becomes of it is told by the outcome.
        await this.#waiting[0]?.cancel().catch(() => undefined);
      },
      leave: async () => {
        const left = this.#waiting.splice(0);
        for (const one of left) {
          one.told.catch(() => undefined);
          await one.leave();
        }
      },
      comeBack: async () => {
        this.#waiting = [];
        for (const client of this.#clients.splice(0)) await client.close();
        this.#waiting.push(await (await this.#open()).comeBack());
      },
      secondProcess: async () => {
        this.#waiting.push(await (await this.#open()).comeBack());
      },
    };
  }

  /** Until it is so, or every word has been said. */
  async #until(isSo: () => Promise<boolean>): Promise<void> {
    const waiting = [...this.#waiting];
    let over = waiting.length === 0;
    void Promise.all(waiting.map(({ told }) => told)).finally(() => {
      over = true;
    });
    await within(PLOT_MS, async () => (await isSo()) || over);
  }
}

const isUncertain = ({ kind }: Told): boolean => kind === 'error' || kind === 'failed' || kind === 'parked';

const isSame = (one: Told, other: Told): boolean => JSON.stringify(one) === JSON.stringify(other);
