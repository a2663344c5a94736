/**
 * Hints that a task changed, where a server pushes them: its status is read before its time, by a request like any other.
 * What a hint says is never believed, and polling goes on regardless (B8).
 */
import { owedEffect } from '../tool-operation/snapshot.ts';
import { readStatus } from './effects/poll.ts';
import { taskRef } from './effects/requests.ts';
import { type Environment, issuedNow } from './environment.ts';
import { applyKept } from './keep.ts';
import { wordsOf } from './log.ts';
import type { Opened } from './store.ts';

/** So many tasks are watched at once; all others are polled, as all are where nothing is pushed. */
const MAX_WATCHED = 1_000;

const isPolled = ({ snapshot }: Opened): boolean => ['poll', 'listen'].includes(owedEffect(snapshot) ?? '');

export class Watches {
  readonly #watched = new Map<string, () => void>();
  /** Operations whose status is being read because of a hint; `true`: another one came meanwhile. */
  readonly #reading = new Map<string, boolean>();
  readonly #stopping = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(private readonly env: Environment) {
    this.#unsubscribe = env.store.onCommit((opened) => {
      if (!isPolled(opened)) this.#leave(opened.record.operationId);
      else if (!this.#watched.has(opened.record.operationId)) void this.#watch(opened).catch(() => undefined);
    });
  }

  close(): void {
    this.#stopping.abort();
    this.#unsubscribe();
    for (const operationId of [...this.#watched.keys()]) this.#leave(operationId);
  }

  /** A server that cannot be reached now is asked at the next poll. */
  async #watch({ record: { operationId }, snapshot: { context } }: Opened): Promise<void> {
    if (context.taskId === null || this.#watched.size >= MAX_WATCHED) return;
    if (!this.env.connections.protocol(context.protocol).hints) return;
    const session = await this.env.connections.session(context);
    if (!session.watch || this.#watched.has(operationId) || this.#stopping.signal.aborted) return;
    this.#watched.set(
      operationId,
      session.watch(taskRef(context), () => void this.#hinted(operationId)),
    );
  }

  #leave(operationId: string): void {
    this.#watched.get(operationId)?.();
    this.#watched.delete(operationId);
  }

  async #hinted(operationId: string): Promise<void> {
    if (this.#reading.has(operationId)) {
      this.#reading.set(operationId, true);
      return;
    }
    try {
      do {
        this.#reading.set(operationId, false);
        await this.#read(operationId);
      } while (this.#reading.get(operationId) && this.#watched.has(operationId));
    } catch (error) {
      // The next poll reads what this one would have.
      this.env.log({ level: 'debug', event: 'hint.lost', operationId, detail: { why: wordsOf(error) } });
    } finally {
      this.#reading.delete(operationId);
    }
  }

  async #read(operationId: string): Promise<void> {
    const { env } = this;
    const opened = await env.store.load(operationId);
    if (!opened || !isPolled(opened)) {
      this.#leave(operationId);
      return;
    }
    const { context } = opened.snapshot;
    // A server that asked to be left alone, or did not answer, is not asked sooner because it speaks (F11).
    if (context.failures > 0) return;
    const issued = issuedNow(env, context);
    for (const told of await readStatus({ env, context }, issued, this.#stopping.signal))
      await applyKept(env, operationId, told, this.#stopping.signal);
  }
}
