import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { amended, answerOf, type Message, record, waitBefore } from './entry.ts';
import { createServer } from './handlers.ts';
import type { Listens } from './listens.ts';
import type { Fault } from './options.ts';
import type { World } from './world.ts';

type Sent = Parameters<StdioServerTransport['send']>[0];

/** The SDK's stdio transport with the faults of a test in between. */
class FaultyTransport extends StdioServerTransport {
  readonly #world: World;
  readonly #listens: Listens;
  readonly #faults = new Map<unknown, Fault>();

  constructor(world: World, listens: Listens) {
    super();
    this.#world = world;
    this.#listens = listens;
  }

  override async start(): Promise<void> {
    const deliver = this.onmessage;
    this.onmessage = (message) => void this.#arrived(message as Message, () => deliver?.(message));
    await super.start();
  }

  async #arrived(message: Message, deliver: () => void): Promise<void> {
    record(this.#world, message, {});
    const fault = this.#world.takeFault(message.method ?? '', message.params?.taskId);
    await waitBefore(this.#world, fault);
    const answer = answerOf(fault, message);
    if (answer !== null) return void super.send(answer as Sent);
    if (message.method === 'subscriptions/listen') {
      this.#listens.open(
        message,
        (value) => void super.send(value as Sent),
        () => undefined,
      );
      return;
    }
    if (fault !== null) this.#faults.set(message.id, fault);
    deliver();
  }

  override async send(message: Sent): Promise<void> {
    const id: unknown = 'id' in message ? message.id : undefined;
    const fault = this.#faults.get(id) ?? null;
    if (fault === null || 'method' in message) return super.send(message);
    this.#faults.delete(id);
    const answer = await amended(this.#world, fault, { ...message });
    if (answer !== null) await super.send(answer as Sent);
  }
}

export function serveOverStdio(world: World, listens: Listens): void {
  serveStdio(() => createServer(world), { legacy: 'reject', transport: new FaultyTransport(world, listens) });
}
