import { Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Script } from './options.ts';
import { endingOf, isTerminal, rpcError, type Task, type World } from './world.ts';

type Params = Record<string, unknown>;

/** What the SDK took out of the parameters of a request, as this server needs it. */
interface Taken {
  readonly envelope?: unknown;
  readonly inputResponses?: unknown;
  readonly requestState?: unknown;
}

const EXTENSION = 'io.modelcontextprotocol/tasks';
const KEYS = 'dev.toolop/submission-key';
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const NAMES = ['first', 'second', 'work', 'typed', 'größe', 'badly-marked'];
const ANY = { params: z.looseObject({}), result: z.looseObject({}) };

/** One instance of the server, on the SDK's low-level `Server`; everything it knows is in the world. */
export function createServer(world: World): Server {
  const { lookup, dedup, retentionMs, tasks } = world.options;
  const keys = { lookup, deduplicates: dedup, ...(retentionMs === null ? {} : { retentionMs }) };
  const server = new Server(
    { name: 'scripted-2026', version: '1.0.0' },
    {
      capabilities: {
        tools: {},
        extensions: { ...(tasks ? { [EXTENSION]: {} } : {}), ...(lookup || dedup ? { [KEYS]: keys } : {}) },
      },
    },
  );
  const methods: Record<string, (params: Params, taken: Taken) => Params | Promise<Params>> = {
    'tasks/get': (params, taken) => getTask(world, params, taken),
    'tasks/update': (params, taken) => updateTask(world, params, taken),
    'tasks/cancel': (params, taken) => cancelTask(world, params, taken),
    'dev.toolop/lookup': (params) => lookUp(world, params),
  };
  for (const [method, handle] of Object.entries(methods)) {
    server.setRequestHandler(method, ANY, (params, context) => handle(params, takenOf(context.mcpReq)));
  }
  // Not by `setRequestHandler`: for this method it checks the result, and would lose what it does not expect in one.
  server.fallbackRequestHandler = async (request, context) => {
    if (request.method === 'tools/list') return listTools(world, request.params ?? {});
    if (request.method === 'tools/call') return callTool(world, request.params ?? {}, takenOf(context.mcpReq));
    throw rpcError(-32601, 'Method not found');
  };
  return server;
}

function takenOf(request: { envelope?: unknown; inputResponses?: unknown; requestState(): unknown }): Taken {
  return {
    envelope: request.envelope,
    inputResponses: request.inputResponses,
    requestState: request.requestState(),
  };
}

function declaresTasks({ envelope }: Taken): boolean {
  const capabilities = (envelope as Params | undefined)?.[CLIENT_CAPABILITIES] as Params | undefined;
  return (capabilities?.extensions as Params | undefined)?.[EXTENSION] !== undefined;
}

function demandTasks(taken: Taken): void {
  if (declaresTasks(taken)) return;
  throw rpcError(-32021, 'Missing required client capability', {
    requiredCapabilities: { extensions: { [EXTENSION]: {} } },
  });
}

function wire(task: Task): Params {
  const { taskId, status, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = task;
  return { taskId, status, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs };
}

export function detailed(task: Task): Params {
  const inputRequests = Object.fromEntries([...task.open.keys()].map((key) => [key, question(key)]));
  const { ending, status } = task;
  return {
    ...wire(task),
    ...(status === 'input_required' ? { inputRequests } : {}),
    ...(status === 'completed' && ending !== null && 'result' in ending ? { result: ending.result } : {}),
    ...(status === 'failed' && ending !== null && 'error' in ending ? { error: ending.error } : {}),
  };
}

function question(key: string): Params {
  const requestedSchema = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
  return { method: 'elicitation/create', params: { mode: 'form', message: `question ${key}`, requestedSchema } };
}

/** Two tools a page. */
function listTools({ options }: World, params: Params): Params {
  const start = typeof params.cursor === 'string' ? Number(params.cursor) : 0;
  const tools = NAMES.slice(start, start + 2).map((name) => ({
    name,
    description: `The tool ${name}.${options.describe}`,
    inputSchema: {
      type: 'object',
      properties: {
        label: { type: 'string', ...(name === 'work' && options.mirror ? { 'x-mcp-header': 'Label' } : {}) },
        script: { type: 'object', ...(name === 'badly-marked' ? { 'x-mcp-header': 'Script' } : {}) },
      },
      additionalProperties: false,
    },
    ...(name === 'typed'
      ? { outputSchema: { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] } }
      : {}),
  }));
  return start + 2 < NAMES.length ? { tools, nextCursor: String(start + 2) } : { tools };
}

async function callTool(world: World, params: Params, taken: Taken): Promise<Params> {
  const tool = String(params.name);
  if (!NAMES.includes(tool)) throw rpcError(-32602, 'Unknown tool');
  const script = ((params.arguments ?? {}) as { script?: Script }).script ?? {};
  const meta = (params._meta ?? {}) as Params;
  const { options, log } = world;
  const key = meta[KEYS];
  const [digest, principal] = [meta['dev.toolop/request-digest'], meta['dev.toolop/principal']];
  const known = typeof key === 'string' ? world.keys.get(key) : undefined;
  if (known && options.lookup && Number(meta['dev.toolop/attempt']) <= known.closedThrough) {
    throw rpcError(-32002, 'This attempt was closed');
  }
  if (known?.taskId && options.dedup) {
    if (known.digest !== digest || known.principal !== principal)
      throw rpcError(-32602, 'The key belongs to another call');
    return { resultType: 'task', ...wire(world.find(known.taskId)) };
  }

  const asked = askBefore(world, script, taken);
  if (asked !== null) return asked;

  log.executions += 1;
  const entry = { digest, principal, closedThrough: known?.closedThrough ?? 0, receipt: null };
  if (script.immediate || !options.tasks || !declaresTasks(taken)) {
    await new Promise((resolve) => setTimeout(resolve, script.ms ?? 0));
    log.effects += 1;
    if (typeof key === 'string') world.keys.set(key, { ...entry, taskId: null, isDone: true });
    const ending = endingOf(tool, script);
    if ('error' in ending) throw rpcError(ending.error.code, ending.error.message);
    return ending.result;
  }
  const task = world.create(tool, script);
  if (typeof key === 'string') world.keys.set(key, { ...entry, taskId: task.taskId, isDone: false });
  const work = world.run(task);
  if (script.terminalSeed) await work;
  return { resultType: 'task', ...wire(task), ...(script.terminalSeed ? {} : { status: 'working' }) };
}

/** The questions before there is a task; the round is in `requestState`, or follows from the keys that are answered. */
function askBefore(world: World, script: Script, taken: Taken): Params | null {
  const rounds = script.before ?? [];
  const responses = (taken.inputResponses ?? {}) as Params;
  const asked = script.withoutState
    ? rounds.findIndex((keys) => keys.every((one) => one in responses))
    : Number(/^round-(\d+)$/.exec(String(taken.requestState))?.[1] ?? -1);
  const previous = rounds[asked] ?? [];
  const isAnswered = asked >= 0 && previous.every((one) => one in responses);
  const next = isAnswered ? asked + 1 : Math.max(asked, 0);
  if (isAnswered) {
    for (const one of previous) world.log.answers.push({ taskId: null, key: one, response: responses[one] });
  }
  const keys = rounds[next];
  if (keys === undefined) return null;
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(keys.map((one) => [one, question(one)])),
    ...(script.withoutState ? {} : { requestState: `round-${next}` }),
  };
}

function getTask(world: World, params: Params, taken: Taken): Params {
  demandTasks(taken);
  const task = world.find(params.taskId);
  const lie = task.lies.shift();
  return lie === undefined ? detailed(task) : { ...wire(task), status: lie };
}

/** The SDK lifts `inputResponses` out of the parameters of any request, also of this one. */
function updateTask(world: World, params: Params, taken: Taken): Params {
  demandTasks(taken);
  world.answer(world.find(params.taskId), (taken.inputResponses ?? {}) as Params);
  return {};
}

/** Heard, and no more: what comes of it is seen in the status. */
function cancelTask(world: World, params: Params, taken: Taken): Params {
  demandTasks(taken);
  const task = world.find(params.taskId);
  if (world.options.cancel === 'obey') {
    setTimeout(() => {
      if (isTerminal(task.status)) return;
      task.status = 'cancelled';
      world.touch(task);
    }, world.options.cancelMs);
  }
  return {};
}

function lookUp(world: World, params: Params): Params {
  if (!world.options.lookup) throw rpcError(-32601, 'Method not found');
  const key = String(params.key);
  const entry = world.keys.get(key);
  if (entry?.isDone) throw rpcError(-32603, 'The call was answered at once: there is no task to show');
  if (!entry?.taskId) {
    const closedThrough = Math.max(entry?.closedThrough ?? 0, Number(params.throughAttempt));
    const { requestDigest: digest, principal } = params;
    world.keys.set(key, { taskId: null, isDone: false, digest, principal, closedThrough, receipt: null });
    return { neverCreated: true, closedThroughAttempt: closedThrough };
  }
  if (entry.digest !== params.requestDigest || entry.principal !== params.principal)
    throw rpcError(-32602, 'Another call has this key');
  if (entry.receipt) return { expiredWithReceipt: entry.receipt };
  return { found: wire(world.find(entry.taskId)) };
}
