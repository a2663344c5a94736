import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../machines/digest.ts';

/** The version of everything that stands under the keys. */
const SCHEMA = '1';
/** How many slots the tasks are spread over. Changing it would hide every task and key that exists. */
const PARTITIONS = 16;

export interface TaskKeys {
  readonly task: string;
  readonly alive: string;
  readonly questions: string;
  readonly answers: string;
  readonly messages: string;
}

/**
 * The names of everything in Redis. A task lives in the partition of its submission key, because both are written in one
 * step; its id says which one that is, and is otherwise as good as a secret. A server that speaks two revisions has two
 * halves: they share the submission keys (one key, one task), and nothing else of one is seen by the other (B2).
 */
export class ServerKeys {
  readonly #prefix: string;
  readonly #revision: string;

  constructor(namespace: string, revision: string) {
    this.#revision = revision;
    this.#prefix = `toolop-server:${SCHEMA}:{${encodeURIComponent(namespace)}/`;
  }

  /** A Pub/Sub channel: the task that changed. */
  get channel(): string {
    return `${this.#prefix}changes}:${this.#revision}`;
  }

  get alive(): readonly string[] {
    return Array.from({ length: PARTITIONS }, (_, index) => this.#own(nameOf(index), 'alive'));
  }

  /** A new id, in the partition of the submission key, if there is one. */
  newTaskId(submissionKey: string | null): string {
    const random = randomBytes(20).toString('hex');
    return `${partitionOf(submissionKey ?? random)}-${random}`;
  }

  /** `null`: no id of ours. */
  task(taskId: string): TaskKeys | null {
    const partition = /^(p\d\d)-[0-9a-f]{40}$/.exec(taskId)?.[1];
    if (partition === undefined) return null;
    const key = (name: string): string => this.#own(partition, name);
    return {
      task: key(`task:${taskId}`),
      alive: key('alive'),
      questions: key(`questions:${taskId}`),
      answers: key(`answers:${taskId}`),
      messages: key(`messages:${taskId}`),
    };
  }

  submission(submissionKey: string): string {
    return this.#key(partitionOf(submissionKey), `key:${encodeURIComponent(submissionKey)}`);
  }

  #own(partition: string, name: string): string {
    return this.#key(partition, `${this.#revision}:${name}`);
  }

  #key(partition: string, name: string): string {
    return `${this.#prefix}${partition}}:${name}`;
  }
}

function partitionOf(text: string): string {
  return nameOf(Number.parseInt(sha256(text).slice(0, 8), 16) % PARTITIONS);
}

function nameOf(index: number): string {
  return `p${String(index).padStart(2, '0')}`;
}
