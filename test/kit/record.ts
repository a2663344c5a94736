/** Gathers what the checker judges: from a ledger, from scripted servers, and from what consumers were handed. */
import { z } from 'zod';
import { type OperationLedger, readOutcome, type TerminalOutcome, type TerminalReceipt } from '../../machines/index.ts';
import type { OperationSummary } from '../../machines/operation-ledger.ts';
import { ToolOperationContext } from '../../machines/tool-operation/context.ts';
import type { CallHistory, History, SeenReceipt, SeenTask } from './checker.ts';
import type { Script, ScriptedLog } from './servers/mcp-2025-11-25/options.ts';
import { endingOf, isTerminal, type Task } from './servers/mcp-2025-11-25/world.ts';
import { controls } from './servers/mcp-2025-11-25.ts';
import { controls2026 } from './servers/mcp-2026-07-28.ts';

/** A scripted server, read through its control endpoint. */
export interface ScriptedPort {
  /** Of its controls: `port` of a started one, `controlPort` of a `stdioCommand`. */
  readonly port: number;
  /** Default: 2025-11-25. */
  readonly revision?: '2026-07-28';
}
/** A server of one's own: `read` tells what it saw and holds now. */
export interface OwnServer {
  /** Called once for each recording. */
  read(): Promise<ServerSide>;
}
/** Whose side of the calls is recorded. A started scripted server of 2026-07-28 needs its `revision` said: `{ port, revision }`. */
export type RecordedServer = ScriptedPort | OwnServer;

/** One ready row that the outbox handed to a consumer (G6). */
export interface Delivery {
  /** Whose terminal state the row announced. */
  readonly operationId: string;
  /** As it was read for that row: the receipt, and what is released with it. */
  readonly outcome: TerminalOutcome;
  /** `false`: the row was no longer leased to this consumer, and may come again. */
  readonly acknowledged: boolean;
}

/** What `recordHistory` reads, and what it cannot find there. */
export interface RecordOptions {
  /** All of its operations are recorded, of all states; what waits in its outbox is consumed and acknowledged. */
  readonly ledger: OperationLedger;
  /** All that the operations may have reached: a call that reached another one looks as if it had made no task. */
  readonly servers: readonly RecordedServer[];
  /** What consumers were handed before; what still waits in the outbox is consumed by the recording itself. */
  readonly deliveries?: readonly Delivery[];
  /** Receipts that anybody read on another way. */
  readonly receipts?: readonly TerminalReceipt[];
  /** Partitions (`p00`...) that forgot acknowledged steps, which an operator has acknowledged. */
  readonly forgot?: ReadonlySet<string>;
  /** Everything was healed and given time: what is neither terminal nor parked then is a violation (G1). */
  readonly settled: boolean;
  /** How far the clocks of ledger and servers may differ, ms. Default: 100. */
  readonly clockToleranceMs?: number;
}

/** A task as its server holds it; `ending` is `{ result }` or `{ error }` once it has one. */
export type HeldTask = Pick<Task, 'taskId' | 'status' | 'ending'> & {
  /** `callNode`: whose it is, where the server was told. */
  readonly script: object;
};
/** An answer that a task took: the question that it was taken for, and the one that it was meant for. */
export type Answered = CallHistory['server']['answers'][number] & { readonly taskId: string };

/** What one server saw and holds. */
export interface ServerSide {
  /** For violations that are about the server as a whole. */
  readonly name: string;
  /** Requests (`meta`: their `_meta`, `at`: ms), runs of its tools, and task ids in order of creation. */
  readonly log: Pick<ScriptedLog, 'requests' | 'executions' | 'created'>;
  /** All that it has not forgotten. A task that is in `log.created` and not here counts as forgotten. */
  readonly tasks: readonly HeldTask[];
  /** The answers that its tasks took, in order. */
  readonly answers: readonly Answered[];
}

const META_KEY = 'dev.toolop/submission-key';
const Snapshot = z.looseObject({ context: ToolOperationContext });
const Request = z.looseObject({ tool: z.string(), arguments: z.looseObject({ script: z.unknown() }) });

/**
 * Everything that `check` wants to know of a ledger and of the servers that its operations reached. It consumes what is ready in the
 * outbox, and changes nothing else. Rejects where a server does not answer.
 */
export async function recordHistory(options: RecordOptions): Promise<History> {
  const { ledger } = options;
  const servers = await Promise.all(options.servers.map(serverSide));
  const deliveries = [...(options.deliveries ?? []), ...(await drainOutbox(ledger))];
  const operations = await allOperations(ledger);
  const contexts = operations.map(({ snapshot }) => Snapshot.parse(JSON.parse(snapshot)).context);
  const keys = new Set(contexts.map(({ submissionKey }) => submissionKey));

  const calls: CallHistory[] = [];
  for (const [i, context] of contexts.entries()) {
    const { operationId } = context;
    const text = await ledger.readReceipt(operationId);
    const own = deliveries.filter((delivery) => delivery.operationId === operationId);
    const others = (options.receipts ?? []).filter((receipt) => receipt.operationId === operationId);
    calls.push({
      callNode: context.callNodeId,
      effectFree: context.capabilities.effectFree,
      server: await sideOfServers(ledger, context, servers),
      ledger: {
        steps: (await ledger.readHistory(operationId)).map(({ from, to, event, at }) => ({ from, to, event, at })),
        state: operations[i]?.state ?? '',
        receipts: [...(text === null ? [] : [JSON.parse(text) as TerminalReceipt]), ...others].map(seenReceipt),
        deliveries: own.map(({ outcome }) => ({
          receipt: seenReceipt(outcome.receipt),
          output: outcome.output?.value ?? null,
        })),
        acknowledged: own.filter(({ acknowledged }) => acknowledged).length,
        forgot: options.forgot?.has(/^p\d+/.exec(operationId)?.[0] ?? '') === true,
      },
    });
  }
  return {
    calls,
    servers: servers.map(({ name, log }) => ({
      name,
      executions: log.executions,
      strayCalls: log.requests.filter(
        ({ method, meta }) => method === 'tools/call' && !keys.has(String(meta[META_KEY])),
      ).length,
    })),
    settled: options.settled,
    clockToleranceMs: options.clockToleranceMs ?? 100,
  };
}

/** Leases and acknowledges every ready row that is left, as `consumer` (default `recorder`), and gives what it was handed. */
export async function drainOutbox(ledger: OperationLedger, consumer = 'recorder'): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  for (;;) {
    const rows = await ledger.leaseReady(consumer, 64, 30_000);
    if (rows.length === 0) return deliveries;
    for (const row of rows) {
      const { operationId } = row;
      const outcome = await readOutcome(ledger, operationId);
      // A row without a receipt is what `audit()` reports; it stays where it is.
      if (outcome) deliveries.push({ operationId, outcome, acknowledged: await ledger.ackReady(row, consumer) });
    }
  }
}

/** Every operation of the ledger's namespace, of all states; reads page by page. */
export async function allOperations(ledger: OperationLedger): Promise<OperationSummary[]> {
  const all: OperationSummary[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: Awaited<ReturnType<OperationLedger['list']>> = await ledger.list({
      limit: 200,
      ...(cursor === null ? {} : { cursor }),
    });
    all.push(...page.operations);
    cursor = page.cursor;
    if (cursor === null) return all;
  }
}

async function serverSide(recorded: RecordedServer): Promise<ServerSide> {
  if ('read' in recorded) return recorded.read();
  const { port, revision } = recorded;
  const name = `server :${port}`;
  // The log first: a task that is made in between is then known, and not missing.
  if (revision === '2026-07-28') {
    const server = controls2026(port);
    const log = await server.log();
    const answers = log.answers.flatMap(({ taskId, key }) =>
      taskId === null ? [] : [{ taskId, question: key, meant: key }],
    );
    return { name, log, tasks: await server.tasks(), answers };
  }
  const server = controls(port);
  const log = await server.log();
  const tasks: readonly Task[] = await server.tasks();
  return { name, log, tasks, answers: numbered(log, tasks) };
}

/** The questions of a task come one after the other, without a name. */
function numbered(log: ScriptedLog, tasks: readonly Task[]): Answered[] {
  const counts = new Map<string, number>();
  return log.answers.map(({ taskId, result }) => {
    const nth = (counts.get(taskId) ?? 0) + 1;
    counts.set(taskId, nth);
    const asked = tasks.find((task) => task.taskId === taskId)?.script.ask ?? 0;
    return { taskId, ...answerOf(result, asked > 0 ? Math.min(nth, asked) : nth) };
  });
}

async function sideOfServers(
  ledger: OperationLedger,
  context: ToolOperationContext,
  servers: readonly ServerSide[],
): Promise<CallHistory['server']> {
  const { submissionKey: key, callNodeId, operationId, taskId } = context;
  const calls = servers.flatMap(({ log }) =>
    log.requests
      .filter(({ method, meta }) => method === 'tools/call' && meta[META_KEY] === key)
      .map(({ at }) => ({ key, at })),
  );
  // A task says itself whose it is (`script.callNode`), or the record does, or the server served nobody else.
  const alone = servers.filter(({ log }) => onlyKey(log) === key);
  const held = servers.flatMap((server) =>
    server.tasks.filter(
      (task) =>
        callNodeOf(task) === callNodeId ||
        (callNodeOf(task) === undefined && (task.taskId === taskId || alone.includes(server))),
    ),
  );
  const gone = servers.some(({ log, tasks }) => isForgotten(taskId, log, tasks));
  const tasks: SeenTask[] = held.map(seenTask);
  if (taskId !== null && gone) tasks.push({ taskId, ended: [], stored: [], forgotten: true });
  const ids = new Set(tasks.map((task) => task.taskId));
  return {
    calls,
    tasks,
    executions: Math.max(tasks.length, ...alone.map(({ log }) => log.executions)),
    repeats: context.capabilities.lookup === 'repeat',
    immediate: await immediateOutcomes(ledger, operationId, context.requestDigest),
    answers: servers
      .flatMap(({ answers }) => answers.filter(({ taskId: id }) => ids.has(id)))
      .map(({ question, meant }) => ({ question, meant })),
    cancels: servers
      .flatMap(({ log }) => log.requests)
      .filter(({ method, taskId: id }) => method === 'tasks/cancel' && id !== null && ids.has(id))
      .map(({ at }) => at),
  };
}

const callNodeOf = ({ script }: HeldTask): unknown => Reflect.get(script, 'callNode');

/** The one submission key that a server was ever given, if it was one. */
function onlyKey(log: ServerSide['log']): unknown {
  const keys = new Set(log.requests.filter(({ method }) => method === 'tools/call').map(({ meta }) => meta[META_KEY]));
  return keys.size === 1 ? [...keys][0] : undefined;
}

function isForgotten(taskId: string | null, log: ServerSide['log'], tasks: readonly HeldTask[]): boolean {
  return taskId !== null && log.created.includes(taskId) && !tasks.some((task) => task.taskId === taskId);
}

const seenTask = ({ taskId, status, ending }: HeldTask): SeenTask => ({
  taskId,
  ended: isTerminal(status) ? [status] : [],
  stored: ending === null ? [] : ['error' in ending ? ending.error : ending.result],
});

/** The questions of a task come one after the other; an answer in the chaos run says which one it is meant for. */
function answerOf(result: Record<string, unknown>, nth: number): CallHistory['server']['answers'][number] {
  const question = `question ${nth}`;
  const word: unknown = (result.content as { word?: unknown } | undefined)?.word;
  return { question, meant: typeof word === 'string' && /^question \d+$/.test(word) ? word : question };
}

/** What the scripted server returns at once when its script tells it to ignore `task`. */
async function immediateOutcomes(ledger: OperationLedger, operationId: string, digest: string): Promise<unknown[]> {
  const request = Request.safeParse(JSON.parse((await ledger.readPayload(operationId, digest)) ?? 'null'));
  if (!request.success) return [];
  const script = (request.data.arguments.script ?? {}) as Script;
  if (script.ignoreTask !== true) return [];
  const ending = endingOf(request.data.tool, script);
  return ['error' in ending ? ending.error : ending.result];
}

const seenReceipt = (receipt: TerminalReceipt): SeenReceipt => ({
  callNodeId: receipt.callNodeId,
  outcome: receipt.outcome,
  status: receipt.status,
  taskId: receipt.taskId,
  resultDigest: receipt.resultDigest,
  released: receipt.released,
  effectReconciliationRequired: receipt.effectReconciliationRequired,
});
