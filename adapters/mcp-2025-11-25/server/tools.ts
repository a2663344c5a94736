import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  type AnySchema,
  normalizeObjectSchema,
  type ShapeOutput,
  safeParseAsync,
  type ZodRawShapeCompat,
} from '@modelcontextprotocol/sdk/server/zod-compat.js';
import {
  type CallToolResult,
  type ElicitRequestFormParams,
  type ElicitResult,
  ElicitResultSchema,
  ErrorCode,
  McpError,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../../machines/digest.ts';
import { field } from '../../mcp/fields.ts';
import { readAs } from '../../mcp/read-as.ts';
import { compileSchema } from '../../mcp/schema.ts';
import { messageOf } from '../../mcp/server/record.ts';
import type { ServerStore } from '../../mcp/server/store.ts';
import type { LiveRun, Workers } from '../../mcp/server/workers.ts';
import { askRequestor } from './questions.ts';

/** What the SDK's `registerToolTask` is told of a tool, and what becomes of its tasks when their process dies. */
export interface TaskToolConfig<Shape extends ZodRawShapeCompat> {
  /** For people. */
  readonly title?: string;
  /** For the model that chooses a tool. */
  readonly description?: string;
  /** Fields of the arguments, as zod schemas: checked before the work begins, also when it begins anew. */
  readonly inputSchema: Shape;
  /** Of `structuredContent`, as zod schemas: published, for clients to check by. */
  readonly outputSchema?: ZodRawShapeCompat | AnySchema;
  /** Hints such as `readOnlyHint`: published, and nothing is decided by them here. */
  readonly annotations?: ToolAnnotations;
  /** Default `optional`. */
  readonly taskSupport?: 'optional' | 'required';
  /** May its work begin anew after the process that did it died? Its questions are not asked twice. Default `false`. */
  readonly resumable?: boolean;
}

/** What a tool knows of the task that it works on. */
export interface TaskRun {
  /** The id that the client has. */
  readonly taskId: string;
  /** 1, and more when a process died over it. */
  readonly run: number;
  /** Aborted when the task was cancelled, or somebody else works on it by now. */
  readonly signal: AbortSignal;
  /** Asks the person behind the requestor. The question outlives connections and, of a resumable tool, this process. */
  elicit(params: Omit<ElicitRequestFormParams, 'mode' | 'task' | '_meta'>): Promise<ElicitResult>;
  /** Says how far it is: the task's `statusMessage`, until the next one. */
  progress(message: string): Promise<void>;
}

export interface TaskTool {
  readonly resumable: boolean;
  register(server: McpServer): void;
  resume(run: LiveRun): Promise<void>;
}

/** A tool whose calls are tasks. What it throws is its result, as with the SDK's other tools; a `McpError` is the call's error. */
export function taskTool<Shape extends ZodRawShapeCompat>(
  name: string,
  config: TaskToolConfig<Shape>,
  work: (args: ShapeOutput<Shape>, run: TaskRun) => Promise<CallToolResult>,
  parts: { readonly store: ServerStore; readonly workers: Workers },
): TaskTool {
  const { store, workers } = parts;
  const { taskSupport = 'optional', resumable = false, ...described } = config;

  const perform = async (live: LiveRun, args: ShapeOutput<Shape>): Promise<void> => {
    try {
      const result = await work(args, viewOf(live, store));
      await workers.end(live.task, result.isError ? 'failed' : 'completed', null, { kind: 'result', value: result });
    } catch (error) {
      if (error instanceof McpError) {
        const { code, message, data } = error;
        await workers.end(live.task, 'failed', null, { kind: 'error', value: { code, message, data } });
      } else {
        const content = [{ type: 'text', text: messageOf(error) }];
        await workers.end(live.task, 'failed', null, { kind: 'result', value: { content, isError: true } });
      }
    }
  };

  return {
    resumable,
    register(server) {
      server.experimental.tasks.registerToolTask<ZodRawShapeCompat, ZodRawShapeCompat | AnySchema>(
        name,
        { ...described, execution: { taskSupport } },
        {
          createTask: async (args, extra) => {
            const ttl = extra.taskRequestedTtl;
            const task = await extra.taskStore.createTask(ttl === undefined ? {} : { ttl });
            const live = workers.get(task.taskId);
            if (live === undefined) throw new McpError(ErrorCode.InternalError, 'The task ended before it began');
            void perform(live, args as ShapeOutput<Shape>);
            return { task };
          },
          getTask: (_args, extra) => extra.taskStore.getTask(extra.taskId),
          getTaskResult: async (_args, extra) => (await extra.taskStore.getTaskResult(extra.taskId)) as CallToolResult,
        },
      );
    },
    async resume(live) {
      const schema = normalizeObjectSchema(config.inputSchema) as AnySchema;
      const parsed = await safeParseAsync(schema, field(field(live.task.request, 'params'), 'arguments') ?? {});
      if (parsed.success) return perform(live, parsed.data as ShapeOutput<Shape>);
      const value = { code: ErrorCode.InvalidParams, message: 'the arguments do not fit the tool any more' };
      await workers.end(live.task, 'failed', null, { kind: 'error', value });
    },
  };
}

function viewOf(live: LiveRun, store: ServerStore): TaskRun {
  return {
    ...{ taskId: live.taskId, run: live.run, signal: live.signal },
    async elicit(params) {
      const question = { method: 'elicitation/create', params: { mode: 'form', ...params } as { [key: string]: Json } };
      const answer = readAs(ElicitResultSchema, await askRequestor(live, question, { signal: live.signal }));
      if (answer === null) throw new McpError(ErrorCode.InvalidParams, 'The answer is not that of an elicitation');
      const schema = compileSchema(params.requestedSchema);
      const misfit = answer.action === 'accept' && schema.kind === 'check' ? schema.check(answer.content ?? {}) : null;
      if (misfit !== null)
        throw new McpError(ErrorCode.InvalidParams, `The answer does not fit the question: ${misfit}`);
      return answer;
    },
    async progress(message) {
      await store.note(live, { message });
    },
  };
}
