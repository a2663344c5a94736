/** As much of a client of 2026-07-28 as the tests need: one POST, one answer. */
import { eventually } from '../support/rig.ts';
import { type Mark, metaOf } from './rig.ts';

export type Answer = Readonly<Record<string, unknown>>;

export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
    readonly http: number,
  ) {
    super(message);
  }
}

export interface CallOptions {
  readonly mark?: Mark;
  /** Says that the client can take a task. Default `true`. */
  readonly tasks?: boolean;
  readonly inputResponses?: Answer;
  readonly signal?: AbortSignal;
}

export class Client2026 {
  readonly #url: string;
  readonly #principal: string;

  constructor(url: string, principal = 'alice') {
    this.#url = url;
    this.#principal = principal;
  }

  async request(method: string, params: Answer, options: CallOptions = {}): Promise<Answer> {
    const { tasks = true, mark, inputResponses, signal } = options;
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {
        elicitation: { form: {} },
        extensions: tasks ? { 'io.modelcontextprotocol/tasks': {} } : {},
      },
      ...(mark === undefined ? {} : metaOf(mark)),
    };
    const name = params.name ?? params.taskId;
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${this.#principal}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method },
        params: { ...params, ...(inputResponses === undefined ? {} : { inputResponses }), _meta },
      }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    const said = /^data: (.+)$/m.exec(text)?.[1] ?? text;
    const message = JSON.parse(said) as { result?: Answer; error?: { code: number; message: string; data?: unknown } };
    if (message.error !== undefined) {
      throw new RpcError(message.error.code, message.error.message, message.error.data, response.status);
    }
    return message.result ?? {};
  }

  call(name: string, args: Answer, options?: CallOptions): Promise<Answer> {
    return this.request('tools/call', { name, arguments: args }, options);
  }

  async submit(name: string, args: Answer, mark?: Mark): Promise<string> {
    const answer = await this.call(name, args, mark === undefined ? {} : { mark });
    if (answer.resultType !== 'task') throw new Error(`no task: ${JSON.stringify(answer)}`);
    return answer.taskId as string;
  }

  get(taskId: string): Promise<Answer> {
    return this.request('tasks/get', { taskId });
  }

  update(taskId: string, inputResponses: Answer): Promise<Answer> {
    return this.request('tasks/update', { taskId }, { inputResponses });
  }

  cancel(taskId: string): Promise<Answer> {
    return this.request('tasks/cancel', { taskId });
  }

  lookup(mark: Mark): Promise<Answer> {
    const { key, attempt: throughAttempt, digest: requestDigest, principal } = mark;
    return this.request('dev.toolop/lookup', { key, throughAttempt, requestDigest, principal });
  }

  until(taskId: string, status: string): Promise<Answer> {
    return eventually(async () => {
      const task = await this.get(taskId);
      return task.status === status ? task : null;
    });
  }
}

export function accept(word: string): Answer {
  return { action: 'accept', content: { word } };
}
