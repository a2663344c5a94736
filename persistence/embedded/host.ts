import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type Database from 'libsql';
import { LedgerUnavailable } from '../../machines/operation-ledger.ts';
import type { Stored } from '../packing.ts';
import type { Durability, ScriptHost } from '../script-host.ts';
import { loadScripts, type ScriptName } from '../scripts.ts';
import { Changes } from './changes.ts';
import { createCommands } from './commands.ts';
import { isBusy, unavailable } from './errors.ts';
import { openFile, pragma } from './file.ts';
import { LuaScripts } from './lua.ts';

/** How many waiting scripts share one transaction, and so one sync of the disk. */
const BATCH = 32;

interface Job {
  readonly script: ScriptName;
  readonly keys: readonly string[];
  readonly args: readonly Stored[];
  readonly nudge: string | undefined;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** Runs the scripts in a Lua VM on a SQLite file, which several processes may share. */
export class EmbeddedHost implements ScriptHost {
  readonly #path: string;
  readonly #busyMs: number;
  readonly #db: Database.Database;
  readonly #lua: LuaScripts;
  readonly #changes: Changes;
  readonly #queue: Job[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;

  private constructor(path: string, busyMs: number, db: Database.Database) {
    this.#path = path;
    this.#busyMs = busyMs;
    this.#db = db;
    this.#lua = new LuaScripts(createCommands(db));
    this.#changes = new Changes(db);
  }

  /** @param busyMs how long one attempt waits for other processes before it counts as failed */
  static async open(path: string, busyMs: number): Promise<EmbeddedHost> {
    try {
      const db = await whileBusy(() => openFile(path), busyMs);
      return new EmbeddedHost(path, busyMs, db);
    } catch (error) {
      throw unavailable(error, path);
    }
  }

  run(script: ScriptName, keys: readonly string[], args: readonly Stored[], nudge?: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new LedgerUnavailable(`the ledger file ${this.#path} was closed`));
        return;
      }
      this.#queue.push({ script, keys, args, nudge, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  subscribe(listener: (operationId: string) => void): () => void {
    return this.#changes.subscribe(listener);
  }

  async durability(): Promise<Durability> {
    const journal = String(pragma(this.#db, 'journal_mode'));
    const synchronous = Number(pragma(this.#db, 'synchronous'));
    const acceptable = journal === 'wal' && synchronous >= 2;
    return {
      acceptable,
      statement: acceptable
        ? `The ledger file ${this.#path}: a kill or a power cut loses nothing acknowledged, if the disk keeps what it confirmed. ` +
          'There is no failover: a lost disk loses everything. Only a local disk may hold it, no network share.'
        : `The ledger file ${this.#path} does not sync its log (journal ${journal}, synchronous ${synchronous}): a power cut can lose acknowledged steps.`,
      facts: { journal, synchronous },
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#draining;
    this.#changes.close();
    this.#db.close();
  }

  /** Takes what waits in the queue, batch by batch; between two batches everybody else has a turn. */
  async #drain(): Promise<void> {
    for (await turn(); this.#queue.length > 0; await turn()) {
      const batch = this.#queue.splice(0, BATCH);
      await this.#runTogether(batch);
    }
    this.#draining = undefined;
  }

  /** One transaction for all. If one script fails, each gets a transaction of its own, so that only that one does. */
  async #runTogether(batch: readonly Job[]): Promise<void> {
    try {
      const replies = await whileBusy(() => this.#transact(batch), this.#busyMs);
      batch.forEach((job, i) => {
        job.resolve(replies[i]);
      });
      if (batch.some(({ nudge }) => nudge !== undefined)) this.#changes.look();
    } catch (error) {
      const [only] = batch;
      if (batch.length === 1) only?.reject(unavailable(error, this.#path));
      else for (const job of batch) await this.#runTogether([job]);
    }
  }

  #transact(batch: readonly Job[]): unknown[] {
    const writes = batch.some(({ script }) => loadScripts().get(script)?.writes);
    this.#db.exec(writes ? 'BEGIN IMMEDIATE' : 'BEGIN');
    try {
      const replies = batch.map(({ script, keys, args, nudge }) => {
        const reply = this.#lua.run(script, keys, args);
        if (nudge !== undefined) this.#changes.announce(nudge);
        return reply;
      });
      this.#db.exec('COMMIT');
      return replies;
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Tries again while another process holds the file, with pauses of random length, so that nobody starves. */
async function whileBusy<T>(attempt: () => T, limitMs: number): Promise<T> {
  const end = performance.now() + limitMs;
  for (let pause = 2; ; pause = Math.min(pause * 1.5, 25)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
    }
    await sleep(pause * (0.5 + Math.random()));
  }
}
