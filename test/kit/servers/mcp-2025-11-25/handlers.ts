import { randomUUID } from 'node:crypto';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import { ElicitResultSchema, InitializeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Script } from './options.ts';
import { endingOf, isTerminal, type Key, rpcError, type Task, type World } from './world.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type Params = Record<string, unknown>;

const RELATED = 'io.modelcontextprotocol/related-task';
const NAMES = ['first', 'second', 'sync', 'work', 'typed'];
const FOR_EVER = 2 ** 31 - 1;

/**
 * One session of the scripted server on the SDK's low-level `Server`. All methods go through its fallback handler: the
 * typed one for `tools/call` would refuse exactly the answers that a test wants to see.
 */
export function createServer(world: World): Server {
  const { options } = world;
  const capabilities = {
    tools: {},
    ...(options.tasks
      ? { tasks: { ...(options.cancel ? { cancel: {} } : {}), requests: { tools: { call: {} } } } }
      : {}),
    ...(options.lookup || options.dedup
      ? { experimental: { 'dev.toolop/submission-key': keyDeclaration(world) } }
      : {}),
  };
  const info = { name: 'scripted', version: '1.0.0' };
  const server = new Server(info, { capabilities });
  const { protocolVersion } = options;
  if (protocolVersion !== null) {
    server.setRequestHandler(InitializeRequestSchema, () => ({ protocolVersion, capabilities, serverInfo: info }));
  }
  server.fallbackRequestHandler = async (request, extra) => {
    const params = (request.params ?? {}) as Params;
    const taskId = typeof params.taskId === 'string' ? params.taskId : null;
    const fault = world.takeFault(request.method, taskId, ['rpc', 'answer', 'delay', 'hold', 'silence']);
    if (fault?.kind === 'rpc') throw rpcError(fault.code, fault.message ?? 'injected');
    if (fault?.kind === 'answer') return fault.result;
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    if (fault?.kind === 'hold') await world.released();
    const answer = await handle(world, request.method, params, extra);
    return fault?.kind === 'silence' ? new Promise<Params>(() => undefined) : answer;
  };
  return server;
}

function keyDeclaration(world: World): object {
  const { lookup, dedup, retentionMs } = world.options;
  return { lookup, deduplicates: dedup, ...(retentionMs === null ? {} : { retentionMs }) };
}

async function handle(world: World, method: string, params: Params, extra: Extra): Promise<Params> {
  switch (method) {
    case 'tools/list':
      return listTools(world, params);
    case 'tools/call':
      return callTool(world, params, extra);
    case 'tasks/get': {
      const task = world.find(params.taskId);
      const lie = task.lies.shift();
      return lie === undefined ? wire(task) : { ...wire(task), status: lie };
    }
    case 'tasks/result':
      return taskResult(world, params, extra);
    case 'tasks/cancel':
      return cancelTask(world, params);
    case 'dev.toolop/lookup':
      if (world.options.lookup) return lookup(world, params);
      break;
  }
  throw rpcError(-32601, 'Method not found');
}

function wire(task: Task): Params {
  const { taskId, status, createdAt, lastUpdatedAt, ttl, pollInterval } = task;
  return { taskId, status, createdAt, lastUpdatedAt, ttl, pollInterval };
}

/** Two tools a page. */
function listTools(world: World, params: Params): Params {
  const start = typeof params.cursor === 'string' ? Number(params.cursor) : 0;
  const tools = NAMES.slice(start, start + 2).map((name) => ({
    name,
    description: `The tool ${name}.${world.options.describe}`,
    inputSchema: {
      type: 'object',
      properties: { label: { type: 'string' }, day: { type: 'string', format: 'date' }, script: { type: 'object' } },
      additionalProperties: false,
    },
    ...(name === 'typed'
      ? { outputSchema: { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] } }
      : {}),
    ...(name in world.options.limits
      ? { _meta: { 'dev.toolop/synchronous-limit-ms': world.options.limits[name] } }
      : {}),
    ...(name === 'work' ? { execution: { taskSupport: 'optional' } } : {}),
    ...(name === 'typed' ? { execution: { taskSupport: 'required' } } : {}),
  }));
  return start + 2 < NAMES.length ? { tools, nextCursor: String(start + 2) } : { tools };
}

async function callTool(world: World, params: Params, extra: Extra): Promise<Params> {
  const tool = String(params.name);
  const args = (params.arguments ?? {}) as { script?: Script };
  const script = args.script ?? {};
  const meta = (params._meta ?? {}) as Params;
  const key = meta['dev.toolop/submission-key'];
  const digest = meta['dev.toolop/request-digest'];
  const principal = meta['dev.toolop/principal'];
  const known = typeof key === 'string' ? world.keys.get(key) : undefined;
  if (known && world.options.lookup && Number(meta['dev.toolop/attempt']) <= known.closedThrough) {
    throw rpcError(-32002, 'This attempt was closed');
  }
  if (known?.taskId && world.options.dedup) {
    if (known.digest !== digest || known.principal !== principal)
      throw rpcError(-32602, 'The key belongs to another call');
    return { task: wire(world.find(known.taskId)) };
  }

  world.log.executions += 1;
  const augmented = params.task as { ttl?: number } | undefined;
  if (augmented === undefined || !world.options.tasks || script.ignoreTask) {
    const closedThrough = known?.closedThrough ?? 0;
    const entry: Key = { taskId: null, isDone: true, digest, principal, closedThrough, receipt: null };
    if (typeof key === 'string') world.keys.set(key, entry);
    const createdAt = new Date().toISOString();
    if (script.elicits) {
      const requestedSchema = { type: 'object' as const, properties: {} };
      await extra.sendRequest(
        { method: 'elicitation/create', params: { message: 'well?', requestedSchema } },
        ElicitResultSchema,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, script.ms ?? 0));
    world.log.effects += 1;
    const ending = endingOf(tool, script);
    const failed = 'error' in ending || ending.result.isError === true;
    entry.receipt = { taskId: randomUUID(), createdAt, status: failed ? 'failed' : 'completed', ...ending };
    if ('error' in ending) throw rpcError(ending.error.code, ending.error.message);
    return ending.result;
  }
  // As SDK 1.32.2: a tool that forbids tasks runs first and is refused afterwards.
  if (tool === 'sync') throw rpcError(-32602, 'This tool does not support tasks');
  const task = world.create(tool, script, augmented.ttl ?? null);
  if (typeof key === 'string') {
    const closedThrough = known?.closedThrough ?? 0;
    world.keys.set(key, { taskId: task.taskId, isDone: false, digest, principal, closedThrough, receipt: null });
  }
  void world.run(task);
  // The first answer always says `working`.
  return { task: { ...wire(task), status: 'working' } };
}

/** Delivers the task's questions, each once and never again (as the SDK does), and blocks until it is terminal. */
async function taskResult(world: World, params: Params, extra: Extra): Promise<Params> {
  const reader = Symbol('tasks/result');
  world.find(params.taskId).reader = reader;
  for (;;) {
    const task = world.find(params.taskId);
    for (let prompt = world.nextPrompt(task, reader); prompt; prompt = world.nextPrompt(task, reader)) {
      const { message, answered } = prompt;
      const requestedSchema = {
        type: 'object' as const,
        properties: { word: { type: 'string' as const } },
        required: ['word'],
      };
      const _meta = { [RELATED]: { taskId: task.taskId } };
      extra
        .sendRequest(
          { method: 'elicitation/create', params: { message, requestedSchema, _meta } },
          ElicitResultSchema,
          { timeout: FOR_EVER },
        )
        .then((result) => answered({ ...result }))
        .catch(() => undefined);
    }
    if (isTerminal(task.status)) {
      if (task.ending === null) throw rpcError(-32603, 'The task has no result stored');
      if ('error' in task.ending) throw rpcError(task.ending.error.code, task.ending.error.message);
      return { ...task.ending.result, _meta: { [RELATED]: { taskId: task.taskId } } };
    }
    await world.changed();
    if (extra.signal.aborted) throw rpcError(-32603, 'Aborted');
  }
}

function cancelTask(world: World, params: Params): Params {
  if (!world.options.cancel) throw rpcError(-32601, 'Method not found');
  const task = world.find(params.taskId);
  if (world.lyingCancel) return { ...wire(task), status: 'cancelled' };
  if (isTerminal(task.status)) throw rpcError(-32602, 'Cannot cancel a terminal task');
  task.status = 'cancelled';
  world.touch(task);
  return wire(task);
}

function lookup(world: World, params: Params): Params {
  const key = String(params.key);
  const throughAttempt = Number(params.throughAttempt);
  const entry = world.keys.get(key);
  if (entry?.isDone && world.options.receipts) {
    if (entry.receipt) return { expiredWithReceipt: entry.receipt };
    return { found: { taskId: `call ${key}`, status: 'working' } };
  }
  if (entry?.isDone) throw rpcError(-32603, 'The call was answered at once: there is no task to show');
  if (!entry?.taskId) {
    const closedThrough = Math.max(entry?.closedThrough ?? 0, throughAttempt);
    const { requestDigest: digest, principal } = params;
    world.keys.set(key, { taskId: null, isDone: false, digest, principal, closedThrough, receipt: null });
    return { neverCreated: true, closedThroughAttempt: closedThrough };
  }
  if (entry.digest !== params.requestDigest || entry.principal !== params.principal)
    throw rpcError(-32602, 'Another call has this key');
  if (entry.receipt) return { expiredWithReceipt: entry.receipt };
  return { found: wire(world.find(entry.taskId)) };
}
