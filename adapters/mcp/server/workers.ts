import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../../machines/digest.ts';
import {
  type Ending,
  INTERNAL_ERROR,
  isTerminal,
  keepable,
  type Run,
  type TaskRecord,
  type Terminal,
} from './record.ts';
import { nameOfRun, type ServerStore, type Step } from './store.ts';

/** Dead runs that one look takes over per partition. */
const REAP_AT_ONCE = 100;
const RETRY_MS = 500;
/** How many heartbeats a dead run waits for a process that knows its tool. */
const ORPHAN_HEARTBEATS = 10;

/** Why a run has to stop. */
export type StopReason = 'cancelled' | 'ended' | 'lost';

/** A run of this process. */
export interface LiveRun extends Run {
  readonly task: TaskRecord;
  /** Aborted with a `StopReason`: a cancel, or the task is not this run's any more. */
  readonly signal: AbortSignal;
  /** Asks and waits for the answer, however long that takes. The same key is the same question, in every run. */
  ask(key: string, question: Json, signal?: AbortSignal): Promise<Json>;
}

/** Begins the work of a task anew; ends it by itself. */
export type Resume = (run: LiveRun) => Promise<void>;

/**
 * The runs of this process: keeps their heartbeat, tells them to stop, and looks after those of processes that died
 * (design section 6: "nothing lost" means that the truth is kept, not that a row survived).
 */
export class Workers {
  readonly id = randomUUID();
  readonly #store: ServerStore;
  readonly #resume: (tool: string) => Resume | undefined;
  readonly #runs = new Map<string, { readonly run: LiveRun; readonly stop: AbortController }>();
  /** Dead runs of resumable tools that are not known here, and since when they are seen. */
  readonly #orphans = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #unlisten: () => void;
  /** The round that is under way. */
  #turn: Promise<void> | undefined;
  #isClosed = false;
  /** Of this process's clock, ms: when it last gave a sign, and from when on others may be taken for dead (0: now). */
  #lastSign = performance.now();
  #reapFrom = 0;

  constructor(store: ServerStore, resume: (tool: string) => Resume | undefined) {
    this.#store = store;
    this.#resume = resume;
    this.#unlisten = store.changes.listen((taskId) => void this.#look(taskId));
    this.#timer = setInterval(() => {
      // One at a time: while Redis is away a round takes longer than the time to the next one.
      this.#turn ??= this.#round()
        .catch(store.settings.onError)
        .finally(() => {
          this.#turn = undefined;
        });
    }, store.settings.heartbeatMs / 3);
    this.#timer.unref();
  }

  /** This process works on the task from here on, until it ends. */
  begin(task: TaskRecord): LiveRun {
    const known = this.#runs.get(task.taskId);
    if (known?.run.run === task.run) return known.run;
    const stop = new AbortController();
    const { taskId, worker, run } = task;
    const live: LiveRun = {
      ...{ task, taskId, worker, run, signal: stop.signal },
      ask: (key, question, signal) => this.#ask(live, key, question, signal),
    };
    this.#runs.set(taskId, { run: live, stop });
    return live;
  }

  get(taskId: string): LiveRun | undefined {
    return this.#runs.get(taskId)?.run;
  }

  /**
   * Ends a task of this process. Tries until Redis has it: what was done must not be forgotten while this process lives. After
   * `close` it is `lost`: this half has no Redis any more, and another process looks after the task.
   */
  async end(
    run: Run & Pick<TaskRecord, 'submissionKey'>,
    status: Terminal,
    message: string | null,
    ending: Ending | null,
  ): Promise<Step> {
    const kept = keepable(status, ending);
    for (;;) {
      try {
        return await this.#store.finish(run, run, kept.status, message, kept.ending);
      } catch (error) {
        if (this.#isClosed) return 'lost';
        this.#store.settings.onError(error as Error);
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Looks after the tasks of dead processes once: runs what can be run again, ends the rest. Answers how many. */
  async reap(): Promise<number> {
    let count = 0;
    const overdue = await this.#store.overdue(REAP_AT_ONCE);
    const names = new Set(overdue.map(nameOfRun));
    for (const name of this.#orphans.keys()) if (!names.has(name)) this.#orphans.delete(name);
    for (const dead of overdue) {
      // One that cannot be read must not keep all others waiting.
      const reaped = await this.#reapOne(dead).catch((error: Error) => this.#store.settings.onError(error));
      if (reaped === true) count += 1;
    }
    return count;
  }

  async #reapOne(dead: Run): Promise<boolean> {
    const before = await this.#store.read(dead.taskId);
    // What was to stop has stopped.
    const unwanted = before?.cancelWanted === true;
    const again = before?.resumable === true && !unwanted && before.run < this.#store.settings.maxRuns;
    const resume = this.#resume(before?.tool ?? '');
    if (again && resume === undefined && this.#mayBeKnownElsewhere(dead)) return false;
    const task = await this.#store.takeOver(dead, this.id);
    if (task === null) return false;
    if (again && resume !== undefined) {
      const run = this.begin(task);
      resume(run).catch((error: Error) => this.#store.settings.onError(error));
    } else if (unwanted) {
      await this.#store.finish(task, task, 'cancelled', 'interrupted', null);
    } else {
      await this.#store.finish(task, task, 'failed', 'interrupted', interrupted(task));
    }
    return true;
  }

  /** Another process may know the tool; a tool that nobody has any more never runs again. */
  #mayBeKnownElsewhere(dead: Run): boolean {
    const name = nameOfRun(dead);
    const since = this.#orphans.get(name) ?? performance.now();
    this.#orphans.set(name, since);
    return performance.now() - since < this.#store.settings.heartbeatMs * ORPHAN_HEARTBEATS;
  }

  /** Stops looking after anything; the work itself goes on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#unlisten();
    await this.#turn;
  }

  async #round(): Promise<void> {
    const { heartbeatMs } = this.#store.settings;
    const toLook = new Set(await this.#store.beat([...this.#runs.values()].map(({ run }) => run)));
    // Who missed a sign of its own cannot tell a dead process from a Redis that nobody reached: all get the time for theirs.
    const now = performance.now();
    const gapMs = now - this.#lastSign;
    this.#lastSign = now;
    if (gapMs > heartbeatMs || (gapMs > (heartbeatMs * 2) / 3 && this.#reapFrom === 0)) {
      this.#reapFrom = now + heartbeatMs;
    }
    await Promise.all(
      [...this.#runs.values()].filter(({ run }) => toLook.has(nameOfRun(run))).map(({ run }) => this.#look(run.taskId)),
    );
    if (now < this.#reapFrom) return;
    this.#reapFrom = 0;
    await this.reap();
  }

  /** Tells a run of this process what became of its task meanwhile. */
  async #look(taskId: string): Promise<void> {
    const held = this.#runs.get(taskId);
    if (held === undefined) return;
    const task = await this.#store.read(taskId).catch(() => undefined);
    if (task === undefined) return;
    const { run, stop } = held;
    const abort = (reason: StopReason): void => {
      if (reason !== 'cancelled' || (task !== null && isTerminal(task.status))) {
        if (this.#runs.get(taskId) === held) this.#runs.delete(taskId);
      }
      stop.abort(reason);
    };
    if (task === null || task.worker !== run.worker || task.run !== run.run) abort('lost');
    else if (task.status === 'cancelled' || (task.cancelWanted && !isTerminal(task.status))) abort('cancelled');
    else if (isTerminal(task.status)) abort('ended');
  }

  async #ask(run: LiveRun, key: string, question: Json, signal: AbortSignal | undefined): Promise<Json> {
    const { answer } = await this.#store.changes.until(
      run.taskId,
      async () => {
        const said = await this.#store.ask(run, key, question);
        if (said === 'asked' || said === 'waiting') return null;
        if (typeof said === 'object') return said;
        throw new QuestionLost(said === 'reused' ? `the key ${key} was another question's` : 'the task has ended');
      },
      signal,
    );
    return answer;
  }
}

/** Nobody will answer this question any more. */
export class QuestionLost extends Error {
  override readonly name = 'QuestionLost';
}

function interrupted(task: TaskRecord): Ending {
  const times = task.run > 2 ? `, ${task.run - 1} times` : '';
  return {
    kind: 'error',
    value: { code: INTERNAL_ERROR, message: `interrupted: the process that worked on the task died${times}` },
  };
}
