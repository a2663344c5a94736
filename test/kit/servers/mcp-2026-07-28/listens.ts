import type { Message } from './entry.ts';
import { detailed } from './handlers.ts';
import type { Task, World } from './world.ts';

/**
 * `subscriptions/listen` for tasks. Not by the SDK: its filter has no `taskIds`, and its event bus no `notifications/tasks`.
 */
export class Listens {
  readonly #world: World;
  readonly #open = new Map<symbol, (graceful: boolean) => void>();

  constructor(world: World) {
    this.#world = world;
  }

  /** `send` writes one message; `end` ends the stream. Answers the function that forgets the listener. */
  open(message: Message, send: (value: unknown) => void, end: () => void): () => void {
    const subscription = { 'io.modelcontextprotocol/subscriptionId': message.id };
    const filter = (message.params?.notifications ?? {}) as { taskIds?: string[] };
    const taskIds = (filter.taskIds ?? []).filter((taskId) => this.#world.tasks.has(taskId));
    const notify = (method: string, params: object) =>
      send({ jsonrpc: '2.0', method, params: { ...params, _meta: subscription } });
    const watcher = (task: Task) => {
      if (taskIds.includes(task.taskId)) notify('notifications/tasks', detailed(task));
    };
    const self = Symbol('listen');
    const forget = () => {
      this.#open.delete(self);
      this.#world.watchers.delete(watcher);
    };
    this.#open.set(self, (graceful) => {
      if (graceful) send({ jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', _meta: subscription } });
      forget();
      end();
    });
    notify('notifications/subscriptions/acknowledged', { notifications: { taskIds } });
    this.#world.watchers.add(watcher);
    return forget;
  }

  endAll(graceful: boolean): void {
    for (const end of [...this.#open.values()]) end(graceful);
  }
}
