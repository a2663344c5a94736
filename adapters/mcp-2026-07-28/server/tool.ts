import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type { Json } from '../../../machines/digest.ts';
import { field } from '../../mcp/fields.ts';
import { type Ending, messageOf, type Terminal } from '../../mcp/server/record.ts';
import type { InputQuestion } from './answers.ts';

/** What a tool knows of the call that it works on. */
export interface CallContext {
  /** `null`: the call is answered at once, and is not a task. */
  readonly taskId: string | null;
  /** 1, and more when a process died over it. */
  readonly run: number;
  /** Answers to what `before` asked. */
  readonly answers: Readonly<Record<string, Json>>;
  /** Aborted when somebody wants it cancelled (a tool that stops then is cancelled), or when others work on it by now. */
  readonly signal: AbortSignal;
  /** Asks the person behind the client. A key is good for one question in the life of a task, over all of its runs. */
  ask(key: string, question: InputQuestion): Promise<Json>;
  /**
   * Says how far it is: the task's `statusMessage`, until the next one. Of a call that is answered at once nobody hears it.
   */
  progress(message: string): Promise<void>;
}

/** How a tool is published, and how its calls run. */
export interface ToolConfig {
  /** For people. */
  readonly title?: string;
  /** For the model that chooses a tool. */
  readonly description?: string;
  /** JSON Schema of the arguments; they are checked before anything is made. */
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: Json };
  /** JSON Schema of `structuredContent`: published, for clients to check by. */
  readonly outputSchema?: { readonly type: 'object'; readonly [key: string]: Json };
  /** Hints such as `readOnlyHint`: published, and nothing is decided by them here. */
  readonly annotations?: ToolAnnotations;
  /**
   * `forbidden`: always answered at once. `optional`: a task, unless the client cannot take one. `required`: a client
   * that cannot take one is refused. Default `optional`.
   */
  readonly taskSupport?: 'forbidden' | 'optional' | 'required';
  /** How long a task lives from its creation, ms; no longer than the half's `maxTtlMs`. Default: its `defaultTtlMs`. */
  readonly ttlMs?: number;
  /** How often clients are told to ask, ms. Default: the half's. */
  readonly pollIntervalMs?: number;
  /** May its work begin anew after the process that did it died? Its questions are not asked twice. Default `false`. */
  readonly resumable?: boolean;
  /** What has to be known before anything is made; the call is answered with these questions, as often as it takes. */
  readonly before?: (args: Json, answers: Readonly<Record<string, Json>>) => Readonly<Record<string, InputQuestion>>;
}

export type Work = (args: Json, context: CallContext) => Promise<CallToolResult>;

const TASK_SUPPORT: readonly unknown[] = [undefined, 'forbidden', 'optional', 'required'];

/** Throws a `TypeError` that says what of a tool cannot be used (a server in JavaScript has no types to tell it). */
export function demandTool(name: string, config: ToolConfig, work: Work): void {
  const wrong = (what: string): Error => new TypeError(`the tool ${JSON.stringify(name)} cannot be used: ${what}`);
  if (typeof name !== 'string' || name === '') throw wrong('its name is not a text');
  if (config?.inputSchema?.type !== 'object') throw wrong('inputSchema: not a JSON Schema with type: "object"');
  if (!TASK_SUPPORT.includes(config.taskSupport)) throw wrong('taskSupport: not one of forbidden, optional, required');
  if (typeof work !== 'function') throw wrong('its work is not a function');
}

export interface Tool {
  readonly name: string;
  readonly config: ToolConfig;
  readonly work: Work;
  /** Why the arguments do not fit, or `null`. */
  readonly misfit: (args: unknown) => string | null;
}

/** How a call ended. */
export interface Outcome {
  readonly status: Terminal;
  readonly ending: Ending | null;
}

/** Does the work. A fault of the protocol has a `code`; anything else that is thrown is the tool's own failure. */
export async function perform(tool: Tool, args: Json, context: CallContext): Promise<Outcome> {
  try {
    return { status: 'completed', ending: { kind: 'result', value: await tool.work(args, context) } };
  } catch (error) {
    if (context.signal.aborted && context.signal.reason === 'cancelled') return { status: 'cancelled', ending: null };
    const code = field(error, 'code');
    const message = messageOf(error);
    if (typeof code === 'number' && Number.isSafeInteger(code)) {
      const data = field(error, 'data');
      const value = { code, message, ...(data === undefined ? {} : { data }) };
      return { status: 'failed', ending: { kind: 'error', value } };
    }
    const content = [{ type: 'text', text: message }];
    return { status: 'completed', ending: { kind: 'result', value: { content, isError: true } } };
  }
}
