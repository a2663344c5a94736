/** The executor processes: kept at their number, ordered about, killed and stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { program } from '../kit/program.ts';
import type { Delivery } from '../kit/record.ts';
import type { Answer, Order, WorkerLine, WorkerOrders } from './protocol.ts';

const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));
const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

interface Slot {
  child: ChildProcess;
  ready: boolean;
  readonly open: Map<number, (answer: Answer) => void>;
}

export class Fleet {
  readonly deliveries: (Omit<Delivery, 'acknowledged'> & { acknowledged: boolean })[] = [];
  /** The last state that was heard of, by operation. */
  readonly states = new Map<string, string>();
  /** What no executor process should do: end by itself, acknowledge what it was not handed. */
  readonly troubles: string[] = [];
  readonly #slots: Slot[] = [];
  readonly #orders: Omit<WorkerOrders, 'name'>;
  #started = 0;
  #asked = 0;

  constructor(count: number, orders: Omit<WorkerOrders, 'name'>) {
    this.#orders = orders;
    for (let slot = 0; slot < count; slot++) this.#launch(slot);
  }

  get size(): number {
    return this.#slots.length;
  }

  async ready(slot: number, signal: AbortSignal): Promise<void> {
    while (!this.#slots[slot]?.ready) await sleep(50, undefined, { signal });
  }

  /** Answers `error` when the process is killed, or says nothing for `withinMs`: whether it was done is not known then. */
  ask(slot: number, order: Order, withinMs = 8_000): Promise<Answer> {
    const target = this.#slots[slot];
    if (!target?.ready) return Promise.resolve({ kind: 'error', reason: 'the process is starting' });
    const id = this.#asked++;
    return new Promise((resolve) => {
      const done = (answer: Answer) => {
        clearTimeout(timer);
        target.open.delete(id);
        resolve(answer);
      };
      const timer = setTimeout(() => done({ kind: 'error', reason: 'no answer' }), withinMs);
      target.open.set(id, done);
      target.child.stdin?.write(`${JSON.stringify({ id, ...order })}\n`);
    });
  }

  signal(slot: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#slots[slot]?.child.kill(signal);
  }

  /** `kill -9`, and another process in its place after `pauseMs`. */
  async replace(slot: number, pauseMs: number): Promise<void> {
    await this.#kill(slot);
    await sleep(pauseMs);
    this.#launch(slot);
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map((_, slot) => this.#kill(slot)));
  }

  async #kill(slot: number): Promise<void> {
    const target = this.#slots[slot];
    if (!target || !alive.delete(target.child)) return;
    const gone = once(target.child, 'exit');
    target.child.kill('SIGKILL');
    await gone;
  }

  #launch(slot: number): void {
    const orders: WorkerOrders = { ...this.#orders, name: `executor-${slot}.${this.#started++}` };
    const child = spawn(process.execPath, [...program(worker), JSON.stringify(orders)], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const entry: Slot = { child, ready: false, open: new Map() };
    this.#slots[slot] = entry;
    alive.add(child);
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk}`.slice(-4_000);
    });
    child.stdin?.on('error', () => undefined);
    child.once('close', (code, signal) => {
      entry.ready = false;
      for (const answer of [...entry.open.values()]) answer({ kind: 'error', reason: 'the process was killed' });
      if (!alive.delete(child)) return;
      this.troubles.push(`${orders.name} ended by itself (${signal ?? code}): ${errors.trim()}`);
      this.#launch(slot);
    });
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => this.#heard(entry, line));
  }

  #heard(entry: Slot, text: string): void {
    const said = parsed(text);
    switch (said?.line) {
      case 'ready':
        entry.ready = true;
        return;
      case 'answer':
        entry.open.get(said.id)?.(said.answer);
        return;
      case 'state':
        this.states.set(said.operationId, said.state);
        return;
      case 'delivery':
        this.deliveries.push({ operationId: said.operationId, outcome: said.outcome, acknowledged: false });
        return;
      case 'acknowledged': {
        const { operationId } = said;
        const delivery = this.deliveries.find((row) => row.operationId === operationId && !row.acknowledged);
        if (delivery) delivery.acknowledged = true;
        else this.troubles.push(`an acknowledgement of ${operationId}, which was not delivered again`);
      }
    }
  }
}

/** `null`: a line that its writer, killed in the middle of it, could not end. */
function parsed(text: string): WorkerLine | null {
  try {
    return JSON.parse(text) as WorkerLine;
  } catch {
    return null;
  }
}
