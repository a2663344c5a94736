import type Database from 'libsql';
import { CHANGES_KEPT } from './file.ts';

const POLL_MS = 100;

/** Announcements to all processes that have the file open: the newest rows of a small table, looked at by each. */
export class Changes {
  readonly #announce: Database.Statement;
  readonly #forget: Database.Statement;
  readonly #newest: Database.Statement;
  readonly #since: Database.Statement;
  readonly #listeners = new Set<(operationId: string) => void>();
  #seen = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database.Database) {
    this.#announce = db.prepare('INSERT INTO change (operation) VALUES (?)');
    this.#forget = db.prepare(`DELETE FROM change WHERE seq <= last_insert_rowid() - ${CHANGES_KEPT}`);
    this.#newest = db.prepare('SELECT coalesce(max(seq), 0) FROM change').raw();
    this.#since = db.prepare('SELECT seq, operation FROM change WHERE seq > ? ORDER BY seq').raw();
  }

  /** Part of the step that changes the operation. */
  announce(operationId: string): void {
    this.#announce.run([operationId]);
    this.#forget.run([]);
  }

  subscribe(listener: (operationId: string) => void): () => void {
    if (this.#listeners.size === 0) this.#start();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Tells the listeners what is new. Never throws: the next look sees what this one could not read. */
  look(): void {
    if (this.#listeners.size === 0) return;
    for (const [seq, operationId] of this.#read()) {
      this.#seen = seq;
      for (const listener of this.#listeners) listener(operationId);
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#seen = Number((this.#newest.all([]) as unknown[][])[0]?.[0]);
    this.#timer = setInterval(() => this.look(), POLL_MS).unref();
  }

  #read(): [number, string][] {
    try {
      return this.#since.all([this.#seen]) as [number, string][];
    } catch {
      return [];
    }
  }
}
