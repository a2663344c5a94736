import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Json } from '../../../machines/digest.ts';
import { Changes } from './changes.ts';
import { assertDurable, connectionLike, RedisUnreachable } from './connections.ts';
import { ServerKeys, type TaskKeys } from './keys.ts';
import type { HalfSettings } from './options.ts';
import {
  type Ending,
  isoOf,
  isTerminal,
  type Run,
  type Status,
  type TaskRecord,
  type Terminal,
  taskRecordOf,
} from './record.ts';
import { type RunScript, type ScriptName, scriptsOn } from './scripts.ts';
import type { SubmissionMark } from './submission.ts';

const Reply = z.array(z.string());
const Lines = z.array(z.string());
/** Nobody is told to ask less often than once a day, ms. */
const MAX_POLL_MS = 24 * 3_600_000;
/** How long Redis may take to say goodbye, ms. */
const FAREWELL_MS = 1_000;

export interface NewTask {
  readonly owner: string;
  readonly tool: string;
  readonly request: Json;
  readonly ttlMs: number | null;
  readonly pollMs: number | null;
  readonly resumable: boolean;
}

export type Submitted =
  | { readonly kind: 'created'; readonly task: TaskRecord }
  /** The call was submitted before, or is in other hands already. */
  | { readonly kind: 'exists'; readonly taskId: string }
  /** A look-up has closed this attempt. */
  | { readonly kind: 'closed'; readonly throughAttempt: number }
  /** The key is that of another call, or of somebody else. */
  | { readonly kind: 'refused' };

export type Looked =
  | { readonly kind: 'found'; readonly task: TaskRecord }
  | { readonly kind: 'neverCreated'; readonly closedThroughAttempt: number }
  | {
      readonly kind: 'expiredWithReceipt';
      readonly taskId: string;
      readonly createdAt: string;
      readonly status: Terminal;
    }
  | { readonly kind: 'refused' };

/** What became of a step: `over`: the task had ended; `lost`: another run took over; `unknown`: there is no such task. */
export type Step = 'done' | 'over' | 'lost' | 'unknown';

export interface Questions {
  readonly asked: Readonly<Record<string, Json>>;
  readonly answers: Readonly<Record<string, Json>>;
}

/** All tasks of a server, in Redis (design section 6): what several processes share and a restart does not touch. */
export class ServerStore {
  readonly settings: HalfSettings;
  readonly changes: Changes;
  readonly #revision: string;
  readonly #keys: ServerKeys;
  readonly #redis: Redis;
  readonly #script: RunScript;
  #durable: Promise<void> | undefined;

  /** `revision`: of the protocol that this half speaks. */
  constructor(redis: string | Redis, settings: HalfSettings, revision: string) {
    this.settings = settings;
    this.#revision = revision;
    this.#keys = new ServerKeys(settings.namespace, revision);
    this.#redis = connectionLike(redis, settings.onError);
    this.#script = scriptsOn(this.#redis);
    this.changes = new Changes(this.#redis, connectionLike(redis, settings.onError), this.#keys.channel);
  }

  /** Rejects with `RedisUnreachable` or `RedisNotDurable`: what else only a client's first call would meet. */
  async ready(): Promise<void> {
    await this.#redis.ping().catch((error: Error) => {
      const cause = this.#redis.status === 'ready' ? error.message : 'no connection';
      throw new RedisUnreachable(`Redis does not answer (${cause}): check its address and that it runs`, {
        cause: error,
      });
    });
    await this.#checkDurable();
  }

  /** Makes a task, and the mark of its submission key in the same step (B4). */
  async submit(task: NewTask, worker: string, mark: SubmissionMark | null): Promise<Submitted> {
    const taskId = this.#keys.newTaskId(mark?.key ?? null);
    const keys = this.#of(taskId) as TaskKeys;
    const ttlMs = this.#grantedTtl(task.ttlMs);
    const pollMs = this.#pollInterval(task.pollMs);
    const [kind, said = ''] = await this.#step(
      'submit',
      [keys.task, keys.alive, ...(mark === null ? [] : [this.#keys.submission(mark.key)])],
      [
        ...[taskId, task.owner, task.tool, JSON.stringify(task.request), ttlMs, pollMs, worker],
        ...[this.settings.heartbeatMs, task.resumable ? '1' : '0'],
        ...(mark === null ? ['', '', '', ''] : [mark.key, mark.attempt, this.#digestOf(mark), mark.principal]),
      ],
    );
    if (kind === 'refused') return { kind: 'refused' };
    if (kind === 'closed') return { kind: 'closed', throughAttempt: Number(said) };
    // Found under its own id: this very request, sent once more after its reply was lost.
    if (kind === 'exists' && said !== taskId) return { kind: 'exists', taskId: said };
    const made = await this.read(taskId);
    if (made === null) throw new Error('a task was made and is gone');
    // Who was away for longer than its heartbeat may find that the run is another's by now, or that the task has ended.
    return isRunOf(made, worker, 1) ? { kind: 'created', task: made } : { kind: 'exists', taskId };
  }

  /** What became of a submission; where there was none, it cannot come any more, up to the attempt that is asked about. */
  async lookup(mark: SubmissionMark, owner: string): Promise<Looked> {
    const reply = await this.#step(
      'lookup',
      [this.#keys.submission(mark.key)],
      [mark.attempt, this.#digestOf(mark), mark.principal, owner, this.settings.retentionMs],
    );
    const [kind, said = '', createdAt = '', status = ''] = reply;
    if (kind === 'refused') return { kind: 'refused' };
    if (kind === 'never') return { kind: 'neverCreated', closedThroughAttempt: Number(said) };
    const task = await this.read(said);
    if (task !== null) return { kind: 'found', task };
    // A task that has not ended does not expire; one that ended left its last status with the key.
    return {
      kind: 'expiredWithReceipt',
      taskId: said,
      createdAt: isoOf(Number(createdAt)),
      status: z.enum(['completed', 'failed', 'cancelled']).parse(status),
    };
  }

  async read(taskId: string): Promise<TaskRecord | null> {
    const keys = this.#of(taskId);
    return keys === null ? null : taskRecordOf(await this.#redis.hgetall(keys.task));
  }

  /** The task as its owner sees it; for anybody else it is unknown. */
  async readFor(taskId: string, owner: string): Promise<TaskRecord | null> {
    const task = await this.read(taskId);
    return task?.owner === owner ? task : null;
  }

  /** Ends a task; the first end stays. `run`: who says so; `null`: a cancel. */
  async finish(
    task: Pick<TaskRecord, 'taskId' | 'submissionKey'>,
    run: Run | null,
    status: Terminal,
    message: string | null,
    ending: Ending | null,
  ): Promise<Step> {
    const keys = this.#of(task.taskId);
    if (keys === null) return 'unknown';
    const key = task.submissionKey === null ? [] : [this.#keys.submission(task.submissionKey)];
    const [kind] = await this.#step(
      'finish',
      [keys.task, keys.alive, keys.questions, keys.answers, keys.messages, ...key],
      [
        ...[status, message ?? '', ending?.kind ?? '', ending === null ? '' : JSON.stringify(ending.value)],
        ...[run?.worker ?? '', run?.run ?? '', this.settings.retentionMs, this.settings.keepEndedMs],
      ],
    );
    this.changes.announce(task.taskId);
    return kind as Step;
  }

  async note(
    run: Run,
    says: {
      readonly status?: Exclude<Status, Terminal>;
      readonly message?: string;
      readonly ttlMs?: number;
      readonly pollMs?: number;
    },
  ): Promise<Step> {
    const keys = this.#of(run.taskId);
    if (keys === null) return 'unknown';
    const ttl = says.ttlMs === undefined ? '' : this.#grantedTtl(says.ttlMs);
    const poll = says.pollMs === undefined ? '' : this.#pollInterval(says.pollMs);
    const fields = [says.status ?? '', says.message ?? '', ttl, poll];
    const [kind] = await this.#step('note', [keys.task], [run.worker, run.run, ...fields]);
    this.changes.announce(run.taskId);
    return kind as Step;
  }

  async wantCancel(taskId: string): Promise<Step> {
    const keys = this.#of(taskId);
    if (keys === null) return 'unknown';
    const [kind] = await this.#step('want-cancel', [keys.task], []);
    this.changes.announce(taskId);
    return kind as Step;
  }

  async ask(run: Run, key: string, question: Json): Promise<{ answer: Json } | 'asked' | 'waiting' | 'reused' | Step> {
    const keys = this.#of(run.taskId);
    if (keys === null) return 'unknown';
    const [kind, answer = ''] = await this.#step(
      'ask',
      [keys.task, keys.questions, keys.answers],
      [run.worker, run.run, key, JSON.stringify(question)],
    );
    if (kind === 'asked') this.changes.announce(run.taskId);
    return kind === 'answered' ? { answer: JSON.parse(answer) } : (kind as 'asked' | 'waiting' | 'reused' | Step);
  }

  /** `already`: it was answered before, and that answer stays. */
  async answer(taskId: string, key: string, answer: Json): Promise<'taken' | 'already' | 'unasked' | Step> {
    const keys = this.#of(taskId);
    if (keys === null) return 'unknown';
    const [kind] = await this.#step('answer', [keys.task, keys.questions, keys.answers], [key, JSON.stringify(answer)]);
    this.changes.announce(taskId);
    return kind as 'taken' | 'already' | 'unasked' | Step;
  }

  async questions(taskId: string): Promise<Questions> {
    const keys = this.#of(taskId);
    if (keys === null) return { asked: {}, answers: {} };
    const [asked, answers] = await Promise.all([
      this.#redis.hgetall(keys.questions),
      this.#redis.hgetall(keys.answers),
    ]);
    return { asked: parsed(asked), answers: parsed(answers) };
  }

  /** A message for whoever reads the task's channel next. */
  async send(taskId: string, message: Json, maxWaiting: number): Promise<'done' | 'full' | 'unknown'> {
    const keys = this.#of(taskId);
    if (keys === null) return 'unknown';
    const [kind] = await this.#step('send', [keys.task, keys.messages], [JSON.stringify(message), maxWaiting]);
    this.changes.announce(taskId);
    return kind as 'done' | 'full' | 'unknown';
  }

  async receive(taskId: string, atMost: number): Promise<unknown[]> {
    const keys = this.#of(taskId);
    const texts = keys === null ? null : await this.#redis.lpop(keys.messages, atMost);
    return (texts ?? []).map((text): unknown => JSON.parse(text));
  }

  /** Renews the heartbeat of runs; answers those that are not theirs any more, and those that are wanted cancelled. */
  async beat(runs: readonly Run[]): Promise<readonly string[]> {
    const byPartition = new Map<string, Run[]>();
    for (const run of runs) {
      const { alive } = this.#of(run.taskId) as TaskKeys;
      byPartition.set(alive, [...(byPartition.get(alive) ?? []), run]);
    }
    const toLook = await Promise.all(
      [...byPartition].map(async ([alive, members]) =>
        Lines.parse(
          await this.#script(
            'beat',
            [alive, ...members.map(({ taskId }) => (this.#of(taskId) as TaskKeys).task)],
            [this.settings.heartbeatMs, ...members.map(nameOfRun)],
          ),
        ),
      ),
    );
    return toLook.flat();
  }

  /** Runs whose heartbeat stopped. */
  async overdue(atMost: number): Promise<readonly Run[]> {
    const found = await Promise.all(
      this.#keys.alive.map(async (alive) => Lines.parse(await this.#script('overdue', [alive], [atMost]))),
    );
    return found.flat().map(runNamed);
  }

  /** `null`: somebody else was (or is by now) faster, or the run came back, or the task has ended. */
  async takeOver(old: Run, worker: string): Promise<TaskRecord | null> {
    const keys = this.#of(old.taskId);
    if (keys === null) return null;
    const [kind, run] = await this.#step(
      'take-over',
      [keys.task, keys.alive],
      [nameOfRun(old), worker, this.settings.heartbeatMs],
    );
    if (kind !== 'taken') return null;
    const taken = await this.read(old.taskId);
    return taken !== null && isRunOf(taken, worker, Number(run)) ? taken : null;
  }

  async close(): Promise<void> {
    this.changes.close();
    // Whoever is not connected has nothing to wait for, and a server that is silent is not waited for.
    if (this.#redis.status === 'ready') {
      const farewell = this.#redis.quit().catch(() => undefined);
      await Promise.race([farewell, delay(FAREWELL_MS, undefined, { ref: false })]);
    }
    this.#redis.disconnect();
  }

  /** The same call on another revision is another call: its task could not be read there. */
  #digestOf(mark: SubmissionMark): string {
    return `${this.#revision} ${mark.digest}`;
  }

  #of(taskId: string): TaskKeys | null {
    return this.#keys.task(taskId);
  }

  /** The requestor's wish, within what the server grants: no task stays for ever. */
  #grantedTtl(wish: number | null): number {
    return wholeMs(wish ?? Number.NaN, this.settings.defaultTtlMs, this.settings.maxTtlMs);
  }

  #pollInterval(wish: number | null): number {
    return wholeMs(wish ?? Number.NaN, this.settings.pollIntervalMs, MAX_POLL_MS);
  }

  async #step(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<string[]> {
    await this.#checkDurable();
    return Reply.parse(await this.#script(name, keys, args));
  }

  async #checkDurable(): Promise<void> {
    this.#durable ??= this.settings.durable ? assertDurable(this.#redis) : Promise.resolve();
    await this.#durable.catch((error: Error) => {
      // The server did not tell: the next step asks again.
      this.#durable = undefined;
      throw error;
    });
  }
}

/** A time as a record can hold it, whatever a tool or a requestor says; what is no number is left to the default. */
function wholeMs(wish: number, otherwise: number, most: number): number {
  return Math.round(Math.min(Math.max(Number.isNaN(wish) ? otherwise : wish, 0), most));
}

/** Is this worker's run still the one that works on the task? */
function isRunOf(task: TaskRecord, worker: string, run: number): boolean {
  return task.worker === worker && task.run === run && !isTerminal(task.status);
}

/** How a run is called in Redis. */
export function nameOfRun(run: Run): string {
  return `${run.taskId}|${run.worker}|${run.run}`;
}

function runNamed(name: string): Run {
  const [taskId = '', worker = '', run = ''] = name.split('|');
  return { taskId, worker, run: Number(run) };
}

function parsed(hash: Record<string, string>): Record<string, Json> {
  return Object.fromEntries(Object.entries(hash).map(([key, text]) => [key, JSON.parse(text) as Json]));
}
