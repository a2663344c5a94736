import type { Json } from '../../../machines/digest.ts';
import { field, isObject } from '../../mcp/fields.ts';
import { isTerminal, keepable } from '../../mcp/server/record.ts';
import type { ServerStore, Submitted } from '../../mcp/server/store.ts';
import type { SubmissionMark } from '../../mcp/server/submission.ts';
import { type LiveRun, QuestionLost, type Workers } from '../../mcp/server/workers.ts';
import { INTERNAL_ERROR, rpcError } from './names.ts';
import { type CallContext, type Outcome, perform, type Tool } from './tool.ts';

export interface Call {
  readonly owner: string;
  readonly tool: Tool;
  readonly args: Json;
  readonly answers: Readonly<Record<string, Json>>;
}

/** The calls of this process: as tasks, or answered at once. */
export class Calls {
  readonly #store: ServerStore;
  readonly #workers: Workers;

  constructor(store: ServerStore, workers: Workers) {
    this.#store = store;
    this.#workers = workers;
  }

  /** Makes the task (and the mark of its key in the same step), and begins its work. */
  async submit({ owner, tool, args, answers }: Call, mark: SubmissionMark | null, asTask: boolean): Promise<Submitted> {
    const { ttlMs = null, pollIntervalMs = null, resumable = false } = tool.config;
    const request = { arguments: args, answers, asTask };
    const submitted = await this.#store.submit(
      { owner, tool: tool.name, request, ttlMs, pollMs: pollIntervalMs, resumable: resumable && asTask },
      this.#workers.id,
      mark,
    );
    if (submitted.kind === 'created') {
      const run = this.#workers.begin(submitted.task);
      void this.#work(tool, run, args, answers, asTask);
    }
    return submitted;
  }

  /** A call without a key that is answered at once leaves nothing behind. */
  async once({ tool, args, answers }: Call, hungUp: AbortSignal): Promise<Record<string, unknown>> {
    const stop = new AbortController();
    const hangUp = (): void => stop.abort('cancelled');
    if (hungUp.aborted) hangUp();
    hungUp.addEventListener('abort', hangUp);
    const context: CallContext = {
      ...{ taskId: null, run: 1, answers, signal: stop.signal, ask: cannotAsk },
      progress: async () => undefined,
    };
    const { status, ending } = await perform(tool, args, context);
    return answerOf(keepable(status, ending));
  }

  /** Waits for the end of a task, for a caller who does not know that it is one. */
  async outcome(taskId: string, hungUp: AbortSignal): Promise<Record<string, unknown>> {
    const stop = (): void => void this.#store.wantCancel(taskId).catch(this.#store.settings.onError);
    // On this revision closing the stream of a call that is not answered is a cancel of it.
    if (hungUp.aborted) stop();
    hungUp.addEventListener('abort', stop);
    const { task } = await this.#store.changes
      .until(taskId, async () => {
        const now = await this.#store.read(taskId);
        return now === null || isTerminal(now.status) ? { task: now } : null;
      })
      .finally(() => hungUp.removeEventListener('abort', stop));
    if (task === null) throw rpcError(INTERNAL_ERROR, 'The call ended, and its result has expired');
    return answerOf({ status: task.status as Outcome['status'], ending: task.ending });
  }

  async resume(tool: Tool, run: LiveRun): Promise<void> {
    const answers = field(run.task.request, 'answers');
    const args = (field(run.task.request, 'arguments') ?? {}) as Json;
    await this.#work(tool, run, args, isObject(answers) ? (answers as Record<string, Json>) : {}, true);
  }

  async #work(
    tool: Tool,
    run: LiveRun,
    args: Json,
    answers: Readonly<Record<string, Json>>,
    asTask: boolean,
  ): Promise<void> {
    const context: CallContext = {
      ...{ taskId: run.taskId, run: run.run, answers, signal: run.signal, ask: asTask ? asking(run) : cannotAsk },
      progress: async (message) => void (await this.#store.note(run, { message })),
    };
    const { status, ending } = await perform(tool, args, context);
    await this.#workers.end(run.task, status, null, ending);
  }
}

function asking(run: LiveRun): CallContext['ask'] {
  const used = new Set<string>();
  return async (key, question) => {
    if (used.has(key)) throw new Error(`the key ${key} is good for one question in the life of a task`);
    used.add(key);
    try {
      return await run.ask(key, question as unknown as Json, run.signal);
    } catch (error) {
      // In words of the tool; that it has a run no more is seen by its signal.
      throw error instanceof QuestionLost ? new Error(error.message) : error;
    }
  };
}

async function cannotAsk(): Promise<never> {
  throw new Error('a call that is not a task cannot ask anything while it runs');
}

function answerOf({ status, ending }: Outcome): Record<string, unknown> {
  if (ending?.kind === 'result') return { ...ending.value, resultType: 'complete' };
  const said = ending?.value ?? { code: INTERNAL_ERROR, message: `The call is ${status}` };
  throw rpcError(said.code, said.message, isObject(said.data) ? said.data : undefined);
}
