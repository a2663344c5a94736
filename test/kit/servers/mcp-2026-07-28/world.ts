import { randomUUID } from 'node:crypto';
import {
  DEFAULT_OPTIONS,
  type Fault,
  type Script,
  type ScriptedLog,
  type ScriptedOptions,
  type Status,
} from './options.ts';

export type Ending = { result: Record<string, unknown> } | { error: { code: number; message: string } };

export interface Task {
  taskId: string;
  createdAt: string;
  lastUpdatedAt: string;
  status: Status;
  ttlMs: number | null;
  pollIntervalMs: number;
  ending: Ending | null;
  /** Keys that are listed, and whether they are answered (but still shown). */
  open: Map<string, boolean>;
  lies: Status[];
  tool: string;
  script: Script;
}

export interface Key {
  taskId: string | null;
  isDone: boolean;
  digest: unknown;
  principal: unknown;
  closedThrough: number;
  receipt: { taskId: string; createdAt: string; status: Status } | null;
}

export function rpcError(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code }, data === undefined ? {} : { data });
}

export function isTerminal(status: Status): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Everything a scripted server knows. */
export class World {
  options: ScriptedOptions = { ...DEFAULT_OPTIONS };
  readonly tasks = new Map<string, Task>();
  readonly keys = new Map<string, Key>();
  log: ScriptedLog = emptyLog();
  /** Called with every change of a task: who listens hears it. */
  readonly watchers = new Set<(task: Task) => void>();
  #faults: (Fault & { left: number })[] = [];
  #waiters: (() => void)[] = [];
  #held: (() => void)[] = [];

  addFault(fault: Fault): void {
    this.#faults.push({ ...fault, left: fault.times ?? 1 });
  }

  clearFaults(): void {
    this.#faults = [];
  }

  /** Takes the next fault that waits for this request. */
  takeFault(method: string, taskId: unknown): Fault | null {
    const fault = this.#faults.find(
      (one) => one.left > 0 && one.method === method && (one.taskId === undefined || one.taskId === taskId),
    );
    if (fault === undefined) return null;
    fault.left -= 1;
    return fault;
  }

  /** Resolves when what is held may go on. */
  released(): Promise<void> {
    return new Promise((resolve) => this.#held.push(resolve));
  }

  release(): void {
    for (const resolve of this.#held.splice(0)) resolve();
  }

  reset(): void {
    this.clearFaults();
    this.log = emptyLog();
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  touch(task?: Task): void {
    if (task) {
      task.lastUpdatedAt = new Date().toISOString();
      for (const watcher of this.watchers) watcher(task);
    }
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  find(taskId: unknown): Task {
    const id = taskId === 'last' ? this.log.created.at(-1) : taskId;
    const task = typeof id === 'string' ? this.tasks.get(id) : undefined;
    if (!task) throw rpcError(-32602, `Task not found: ${String(taskId)}`);
    return task;
  }

  create(tool: string, script: Script): Task {
    const now = new Date().toISOString();
    const task: Task = {
      taskId: randomUUID(),
      createdAt: now,
      lastUpdatedAt: now,
      status: 'working',
      ttlMs: script.ttlMs ?? null,
      pollIntervalMs: script.pollIntervalMs ?? 50,
      ending: null,
      open: new Map(),
      lies: [],
      tool,
      script,
    };
    this.tasks.set(task.taskId, task);
    this.log.created.push(task.taskId);
    return task;
  }

  /** Does a task's work: asks its questions, takes its time, ends as told, unless a cancel that is obeyed comes first. */
  async run(task: Task): Promise<void> {
    for (const keys of task.script.ask ?? []) {
      this.ask(task, keys);
      await this.until(() => isTerminal(task.status) || keys.every((key) => task.open.get(key) !== false));
    }
    if (task.script.outcome === 'hold') return;
    await new Promise((resolve) => setTimeout(resolve, task.script.ms ?? 0));
    if (task.status !== 'cancelled') this.finish(task, endingOf(task.tool, task.script));
  }

  ask(task: Task, keys: readonly string[]): void {
    if (isTerminal(task.status)) return;
    for (const key of keys) task.open.set(key, false);
    task.status = 'input_required';
    this.touch(task);
  }

  answer(task: Task, responses: Record<string, unknown>): void {
    for (const [key, response] of Object.entries(responses)) {
      if (task.open.get(key) !== false) {
        this.log.ignored.push({ taskId: task.taskId, key });
        continue;
      }
      this.log.answers.push({ taskId: task.taskId, key, response });
      task.open.set(key, true);
      const clear = () => {
        task.open.delete(key);
        if (task.open.size === 0 && task.status === 'input_required') task.status = 'working';
        this.touch(task);
      };
      if (task.script.lagMs === undefined) clear();
      else setTimeout(clear, task.script.lagMs);
    }
    this.touch(task);
  }

  finish(task: Task, ending: Ending): void {
    this.log.effects += 1;
    if (isTerminal(task.status)) return;
    task.ending = ending;
    // `failed` is for errors of JSON-RPC only; a tool that says `isError` has completed.
    task.status = 'error' in ending ? 'failed' : 'completed';
    this.touch(task);
  }

  forget(task: Task, receipt: boolean): void {
    this.tasks.delete(task.taskId);
    for (const key of this.keys.values()) {
      if (key.taskId !== task.taskId) continue;
      const { taskId, createdAt, status } = task;
      if (receipt) key.receipt = { taskId, createdAt, status };
    }
    this.touch();
  }

  expire(task: Task, inMs: number): void {
    task.ttlMs = Date.now() + inMs - Date.parse(task.createdAt);
    this.touch(task);
    setTimeout(() => this.forget(task, false), inMs);
  }

  reuse(task: Task, createdAt: string): void {
    this.tasks.set(task.taskId, { ...task, createdAt, status: 'working', ending: null, open: new Map(), lies: [] });
    this.touch();
  }
}

export function endingOf(tool: string, script: Script): Ending {
  const ending = endOf(tool, script);
  if (!script.marked || 'error' in ending) return ending;
  return { result: { resultType: 'complete', ...ending.result } };
}

function endOf(tool: string, script: Script): Ending {
  if (script.outcome === 'rpcError') return { error: { code: script.code ?? -32050, message: 'the tool broke' } };
  if (script.outcome === 'isError')
    return { result: { content: [{ type: 'text', text: 'the tool says no' }], isError: true } };
  if (script.variant === 'empty') return { result: { content: [] } };
  if (script.variant === 'huge')
    return { result: { content: [{ type: 'text', text: 'x'.repeat(script.bytes ?? 50_000_000) }] } };
  const structuredContent = { answer: script.variant === 'badSchema' ? 'no number' : 42 };
  const content = [{ type: 'text', text: 'done' }];
  return { result: tool === 'typed' ? { content, structuredContent } : { content } };
}

function emptyLog(): ScriptedLog {
  return {
    counts: {},
    executions: 0,
    effects: 0,
    created: [],
    requests: [],
    answers: [],
    ignored: [],
    disconnects: {},
  };
}
