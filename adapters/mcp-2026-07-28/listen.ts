import { outsideOfSteps } from '../../machines/telemetry/request.ts';
import { field } from '../mcp/fields.ts';
import type { Context } from './context.ts';

/** How soon and how late a subscription that ended is opened again, ms. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Tasks that are watched or left at the same time make one new subscription, ms. */
const GATHER_MS = 20;

/**
 * One `subscriptions/listen` for all watched tasks of a connection (B8): it says *that* a task changed. What it changed to is
 * read by `tasks/get`, whatever the notification holds: hints may come late, twice or never. HTTP only: there its end is the
 * end of the subscription, over stdio it would take a message that this client never sends.
 */
export class Listener {
  readonly #context: Context;
  readonly #watched = new Map<string, Set<() => void>>();
  #open: AbortController | null = null;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = MIN_RETRY_MS;
  /** Something may have changed unheard: the first acknowledgement after it is a hint for all. */
  #missed = false;

  constructor(context: Context) {
    this.#context = context;
    context.connection.peer = {
      request: () => false,
      cancelled: () => undefined,
      notified: (method, params) => this.#notified(method, params),
    };
  }

  watch(taskId: string, changed: () => void): () => void {
    const listeners = this.#watched.get(taskId) ?? new Set();
    const listener = (): void => changed();
    listeners.add(listener);
    if (listeners.size === 1) {
      this.#watched.set(taskId, listeners);
      this.#schedule(GATHER_MS);
    }
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#watched.delete(taskId);
      this.#schedule(GATHER_MS);
    };
  }

  stop(): void {
    this.#watched.clear();
    clearTimeout(this.#timer);
    this.#open?.abort();
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#listen(), ms).unref();
  }

  async #listen(): Promise<void> {
    this.#missed ||= this.#open !== null;
    this.#open?.abort();
    this.#open = null;
    if (this.#watched.size === 0) return;
    const open = new AbortController();
    this.#open = open;
    const reply = await outsideOfSteps(() =>
      this.#context.connection.request(
        'subscriptions/listen',
        { notifications: { taskIds: [...this.#watched.keys()] } },
        { timeoutMs: null, signal: open.signal },
      ),
    );
    if (this.#open !== open) return;
    this.#open = null;
    // A server that answers with an error, or accepts none of the tasks, is not asked again for the same ones.
    if (open.signal.aborted || reply.kind === 'error' || this.#watched.size === 0) return;
    this.#missed = true;
    this.#schedule(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/tasks') {
      const { taskId } = params;
      if (typeof taskId === 'string') this.#hint(taskId);
    } else if (method === 'notifications/subscriptions/acknowledged') {
      const accepted = field(params.notifications, 'taskIds');
      if (Array.isArray(accepted) && accepted.length > 0) this.#accepted();
      else this.#open?.abort();
    }
  }

  #accepted(): void {
    this.#retryMs = MIN_RETRY_MS;
    if (this.#missed) for (const taskId of this.#watched.keys()) this.#hint(taskId);
    this.#missed = false;
  }

  #hint(taskId: string): void {
    for (const changed of this.#watched.get(taskId) ?? []) changed();
  }
}
