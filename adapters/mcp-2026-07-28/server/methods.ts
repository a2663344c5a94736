import type { CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Json } from '../../../machines/digest.ts';
import { field, isObject } from '../../mcp/fields.ts';
import { METHOD_LOOKUP } from '../../mcp/names.ts';
import { readAs } from '../../mcp/read-as.ts';
import { isTerminal, type TaskRecord } from '../../mcp/server/record.ts';
import type { ServerStore } from '../../mcp/server/store.ts';
import { lookupMark, type SubmissionMark, submissionMark } from '../../mcp/server/submission.ts';
import { answerProblem } from './answers.ts';
import type { Call, Calls } from './calls.ts';
import {
  INVALID_PARAMS,
  META_CLIENT_CAPABILITIES,
  MISSING_CLIENT_CAPABILITY,
  rpcError,
  TASKS_EXTENSION,
} from './names.ts';
import type { Tool } from './tool.ts';
import { detailedTask, outstanding, wireTask } from './wire.ts';

export interface Parts {
  readonly store: ServerStore;
  readonly calls: Calls;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly principalOf: (context: ServerContext) => string;
}

type Wire = Record<string, unknown>;

const ANY = { params: z.looseObject({}), result: z.looseObject({}) };
const ACK = { resultType: 'complete' };
const INVALID_REQUEST = -32600;
const TaskId = z.object({ taskId: z.string().max(512) });

export function installMethods(server: Server, parts: Parts): void {
  const on = (method: string, handle: (params: Wire, context: ServerContext, owner: string) => Promise<Wire>): void =>
    server.setRequestHandler(method, ANY, (params, context) => handle(params, context, ownerOf(parts, context)));

  server.setRequestHandler('tools/list', () => ({ tools: [...parts.tools.values()].map(describe) }));
  server.setRequestHandler('tools/call', async (request, context) => {
    const answer = await callTool(parts, request.params, context, ownerOf(parts, context));
    return answer as unknown as CallToolResult;
  });
  on('tasks/get', async (params, context, owner) => {
    demandTasks(context);
    return detailedTask(await taskOf(parts, params, owner), parts.store);
  });
  on('tasks/update', async (params, context, owner) => {
    demandTasks(context);
    const task = await taskOf(parts, params, owner);
    // The SDK takes the answers out of the parameters of every request.
    await takeAnswers(parts.store, task, context.mcpReq.inputResponses ?? {});
    return ACK;
  });
  on('tasks/cancel', async (params, context, owner) => {
    demandTasks(context);
    // Heard, and no more (B9): what comes of it is seen in the status. A task that has ended hears it too.
    await parts.store.wantCancel((await taskOf(parts, params, owner)).taskId);
    return ACK;
  });
  on(METHOD_LOOKUP, async (params, _context, owner) => ({
    resultType: 'complete',
    ...(await lookUp(parts.store, params, owner)),
  }));
}

/** The order matters: whatever refuses a call comes before anything is made. */
async function callTool(parts: Parts, params: Wire, context: ServerContext, owner: string): Promise<Wire> {
  const tool = parts.tools.get(String(params.name));
  if (tool === undefined) throw rpcError(INVALID_PARAMS, 'Unknown tool');
  const { taskSupport = 'optional', before } = tool.config;
  if (taskSupport === 'required') demandTasks(context);
  const args = (params.arguments ?? {}) as Json;
  const misfit = tool.misfit(args);
  if (misfit !== null) throw rpcError(INVALID_PARAMS, `The arguments do not fit the tool: ${misfit}`);
  const mark = submissionMark(params._meta ?? context.mcpReq._meta);
  if (mark === 'malformed') throw rpcError(INVALID_PARAMS, 'The submission key is incomplete');

  const answers = (context.mcpReq.inputResponses ?? {}) as Readonly<Record<string, Json>>;
  const questions = before?.(args, answers) ?? {};
  for (const [key, question] of Object.entries(questions)) {
    const problem = Object.hasOwn(answers, key) ? answerProblem(question as unknown as Json, answers[key]) : null;
    if (problem !== null) throw rpcError(INVALID_PARAMS, `The answer to ${key} does not fit: ${problem}`);
  }
  const open = Object.fromEntries(Object.entries(questions).filter(([key]) => !Object.hasOwn(answers, key)));
  if (Object.keys(open).length > 0) return { resultType: 'input_required', inputRequests: open };

  const call: Call = { owner, tool, args, answers };
  const asTask = taskSupport !== 'forbidden' && declaresTasks(context);
  if (mark === 'none' && !asTask) return parts.calls.once(call, context.mcpReq.signal);
  return submit(parts, call, mark === 'none' ? null : mark, asTask, context.mcpReq.signal);
}

/** One key, one task, however often the call is sent (B4). */
async function submit(
  { calls, store }: Parts,
  call: Call,
  mark: SubmissionMark | null,
  asTask: boolean,
  hungUp: AbortSignal,
): Promise<Wire> {
  const submitted = await calls.submit(call, mark, asTask);
  switch (submitted.kind) {
    case 'refused':
      throw rpcError(INVALID_PARAMS, 'The submission key belongs to another call');
    case 'closed':
      throw rpcError(INVALID_PARAMS, 'This attempt was closed by a look-up', {
        closedThroughAttempt: submitted.throughAttempt,
      });
    case 'created':
      if (!asTask) return calls.outcome(submitted.task.taskId, hungUp);
      return { resultType: 'task', ...wireTask(submitted.task) };
    case 'exists': {
      const task = await store.readFor(submitted.taskId, call.owner);
      if (task === null) throw rpcError(INVALID_PARAMS, 'The task of this submission key has expired');
      // Only the first call is what a hang-up cancels: a repetition may have another reader.
      if (!asTask) return calls.outcome(task.taskId, new AbortController().signal);
      return { resultType: 'task', ...wireTask(task) };
    }
  }
}

async function takeAnswers(store: ServerStore, task: TaskRecord, responses: Readonly<Wire>): Promise<void> {
  if (isTerminal(task.status)) return;
  const open = outstanding(await store.questions(task.taskId));
  // Unknown, answered and superseded keys are ignored: the same answers may be sent again.
  const fitting = Object.entries(responses).filter(([key]) => Object.hasOwn(open, key));
  for (const [key, answer] of fitting) {
    const problem = answerProblem(open[key] as Json, answer);
    if (problem !== null) throw rpcError(INVALID_PARAMS, `The answer to ${key} does not fit: ${problem}`);
  }
  for (const [key, answer] of fitting) await store.answer(task.taskId, key, answer as Json);
}

async function lookUp(store: ServerStore, params: Wire, owner: string): Promise<Wire> {
  const mark = lookupMark(params);
  if (mark === null) throw rpcError(INVALID_PARAMS, 'Not the parameters of a look-up');
  const looked = await store.lookup(mark, owner);
  switch (looked.kind) {
    case 'refused':
      throw rpcError(INVALID_PARAMS, 'The submission key belongs to another call');
    case 'found':
      return { found: wireTask(looked.task) };
    case 'neverCreated':
      return { neverCreated: true, closedThroughAttempt: looked.closedThroughAttempt };
    case 'expiredWithReceipt': {
      const { taskId, createdAt, status } = looked;
      return { expiredWithReceipt: { taskId, createdAt, status } };
    }
  }
}

/** Unknown, expired and somebody else's are one answer. */
async function taskOf({ store }: Parts, params: Wire, owner: string): Promise<TaskRecord> {
  const named = readAs(TaskId, params);
  const task = named === null ? null : await store.readFor(named.taskId, owner);
  if (task === null) throw rpcError(INVALID_PARAMS, 'Task not found');
  return task;
}

function ownerOf({ principalOf }: Parts, context: ServerContext): string {
  let owner: string;
  try {
    owner = principalOf(context);
  } catch {
    owner = '';
  }
  if (typeof owner !== 'string' || owner === '')
    throw rpcError(INVALID_REQUEST, 'No principal: the server did not learn from credentials whose request this is');
  return owner;
}

/** Said with every request anew; what was said before counts for nothing. */
function declaresTasks({ mcpReq }: ServerContext): boolean {
  const capabilities = field(mcpReq.envelope, META_CLIENT_CAPABILITIES);
  return isObject(field(field(capabilities, 'extensions'), TASKS_EXTENSION));
}

function demandTasks(context: ServerContext): void {
  if (declaresTasks(context)) return;
  throw rpcError(MISSING_CLIENT_CAPABILITY, 'Missing required client capability', {
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

function describe({ name, config }: Tool) {
  const { title, description, inputSchema, outputSchema, annotations } = config;
  return {
    ...{ name, inputSchema },
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}
