import { randomUUID } from 'node:crypto';
import { DEFAULT_OPTIONS, type Fault, type Script, type ScriptedLog, type ScriptedOptions } from './options.ts';

export type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
type Ending = { result: Record<string, unknown> } | { error: { code: number; message: string } };

export interface Prompt {
  message: string;
  isAnswered: boolean;
  /** Whom it was delivered to. */
  readonly to: Set<symbol>;
  answered(result: Record<string, unknown>): void;
}

export interface Task {
  taskId: string;
  createdAt: string;
  lastUpdatedAt: string;
  status: Status;
  ttl: number | null;
  pollInterval: number;
  ending: Ending | null;
  /** Questions to deliver. */
  prompts: Prompt[];
  shown: Prompt[];
  /** Who opened `tasks/result` last. */
  reader: symbol | null;
  lies: string[];
  tool: string;
  script: Script;
}

export interface Key {
  taskId: string | null;
  /** Its call has no task: it is, or was, answered at once. */
  isDone: boolean;
  digest: unknown;
  principal: unknown;
  closedThrough: number;
  receipt: { taskId: string; createdAt: string; status: Status; result?: Record<string, unknown> } | null;
}

export function rpcError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}

export function isTerminal(status: Status): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Everything a scripted server knows. It outlives sessions: a task can be reached from another one. */
export class World {
  options: ScriptedOptions = { ...DEFAULT_OPTIONS };
  readonly tasks = new Map<string, Task>();
  readonly keys = new Map<string, Key>();
  log: ScriptedLog = emptyLog();
  lyingCancel = false;
  #faults: (Fault & { left: number })[] = [];
  #waiters: (() => void)[] = [];
  #held: (() => void)[] = [];

  addFault(fault: Fault): void {
    this.#faults.push({ ...fault, left: fault.times ?? 1 });
  }

  clearFaults(): void {
    this.#faults = [];
  }

  /** Takes one of the faults that wait for this request. */
  takeFault(method: string, taskId: string | null, kinds: readonly Fault['kind'][]): Fault | null {
    const fault = this.#faults.find(
      (f) =>
        f.left > 0 && f.method === method && kinds.includes(f.kind) && (f.taskId === undefined || f.taskId === taskId),
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

  /** Resolves at the next change of any task. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  touch(task?: Task): void {
    if (task) task.lastUpdatedAt = new Date().toISOString();
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  find(taskId: unknown): Task {
    const id = taskId === 'last' ? this.log.created.at(-1) : taskId;
    const task = typeof id === 'string' ? this.tasks.get(id) : undefined;
    if (!task) throw rpcError(-32602, `MCP error -32602: Task not found: ${String(taskId)}`);
    return task;
  }

  create(tool: string, script: Script, ttl: number | null): Task {
    const now = new Date().toISOString();
    const task: Task = {
      taskId: randomUUID(),
      createdAt: now,
      lastUpdatedAt: now,
      status: 'working',
      ttl: script.ttl === undefined ? ttl : script.ttl,
      pollInterval: script.pollInterval ?? 50,
      ending: null,
      prompts: [],
      shown: [],
      reader: null,
      lies: [],
      tool,
      script,
    };
    this.tasks.set(task.taskId, task);
    this.log.created.push(task.taskId);
    return task;
  }

  /** Does a task's work: asks its questions, takes its time, ends as told. A cancel does not stop it (as in the SDK). */
  async run(task: Task): Promise<void> {
    for (let round = 1; round <= (task.script.ask ?? 0); round++) await this.ask(task, `question ${round}`);
    if (task.script.outcome === 'hold') return;
    await new Promise((resolve) => setTimeout(resolve, task.script.ms ?? 0));
    this.finish(task, endingOf(task.tool, task.script));
  }

  reset(): void {
    this.clearFaults();
    this.lyingCancel = false;
    this.log = emptyLog();
  }

  /** The next question for this reader: each once, and a repeated one to somebody else. */
  nextPrompt(task: Task, reader: symbol): Prompt | null {
    if (this.options.asksAgain && task.reader !== reader) return null;
    const prompt = task.prompts.find(({ isAnswered, to }) => !isAnswered && !to.has(reader));
    if (prompt === undefined) return null;
    task.prompts = task.prompts.filter((other) => other !== prompt);
    task.shown.push(prompt);
    prompt.to.add(reader);
    return prompt;
  }

  async ask(task: Task, message: string): Promise<void> {
    if (isTerminal(task.status)) return;
    task.status = 'input_required';
    const answer = new Promise<void>((resolve) => {
      const prompt: Prompt = {
        message,
        isAnswered: false,
        to: new Set(),
        answered: (result) => {
          if (prompt.isAnswered) return;
          prompt.isAnswered = true;
          this.log.answers.push({ taskId: task.taskId, result });
          resolve();
        },
      };
      task.prompts.push(prompt);
    });
    this.touch(task);
    await answer;
    if (!isTerminal(task.status)) task.status = 'working';
    this.touch(task);
  }

  askAgain(task: Task): void {
    task.prompts.push(...task.shown.filter(({ isAnswered }) => !isAnswered));
    task.shown = [];
    this.touch(task);
  }

  finish(task: Task, ending: Ending): void {
    this.log.effects += 1;
    if (isTerminal(task.status)) return;
    task.ending = ending;
    task.status = 'error' in ending || ending.result.isError === true ? 'failed' : 'completed';
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

  /** The retention of keys ends for all calls that were answered at once. */
  forgetDone(): void {
    for (const [key, { isDone }] of this.keys) if (isDone) this.keys.delete(key);
  }

  expire(task: Task, inMs: number): void {
    task.ttl = Date.now() + inMs - Date.parse(task.createdAt);
    this.touch(task);
    setTimeout(() => this.forget(task, false), inMs);
  }

  reuse(task: Task, createdAt: string): void {
    this.tasks.set(task.taskId, {
      ...task,
      createdAt,
      status: 'working',
      ending: null,
      prompts: [],
      shown: [],
      reader: null,
      lies: [],
    });
    this.touch();
  }
}

export function endingOf(tool: string, script: Script): Ending {
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
  return { counts: {}, executions: 0, effects: 0, created: [], requests: [], answers: [] };
}
