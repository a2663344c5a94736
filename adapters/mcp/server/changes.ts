import type { Redis } from 'ioredis';

/** Longest wait between two looks: announcements may get lost, the look is the truth. */
const LOOK_AGAIN_MS = 1_000;

/** Announcements of changed tasks, among all processes. */
export class Changes {
  readonly #listeners = new Set<(taskId: string) => void>();
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  readonly #channel: string;

  constructor(publisher: Redis, subscriber: Redis, channel: string) {
    this.#publisher = publisher;
    this.#subscriber = subscriber;
    this.#channel = channel;
    subscriber.on('message', (_channel, taskId: string) => this.#tell(taskId));
    // On every connection anew: a subscription that failed once is not taken up again by itself.
    subscriber.on('ready', () => void subscriber.subscribe(channel).catch(() => undefined));
  }

  announce(taskId: string): void {
    this.#tell(taskId);
    this.#publisher.publish(this.#channel, taskId).catch(() => undefined);
  }

  listen(listener: (taskId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Looks until there is something: at once, after each change of the task, and now and then. Rejects with the signal. */
  async until<T>(taskId: string, look: () => Promise<T | null>, signal?: AbortSignal): Promise<T> {
    let changed = false;
    let wake = (): void => undefined;
    const stir = (): void => {
      changed = true;
      wake();
    };
    const stop = this.listen((id) => {
      if (id === taskId) stir();
    });
    signal?.addEventListener('abort', stir);
    try {
      for (;;) {
        signal?.throwIfAborted();
        changed = false;
        const found = await look();
        if (found !== null) return found;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, LOOK_AGAIN_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
          if (changed) wake();
        });
      }
    } finally {
      stop();
      signal?.removeEventListener('abort', stir);
    }
  }

  close(): void {
    this.#subscriber.disconnect();
  }

  #tell(taskId: string): void {
    for (const listener of [...this.#listeners]) listener(taskId);
  }
}
