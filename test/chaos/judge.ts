/** After the storm: is everything terminal, or parked where no server can answer, and does the history keep the brief? */
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerUnavailable, type OperationLedger, ToolOperationContext } from '../../machines/index.ts';
import { check, type History, type Violation } from '../kit/checker.ts';
import { allOperations, type Delivery, recordHistory, type ScriptedPort } from '../kit/record.ts';
import { controls } from '../kit/servers/mcp-2025-11-25.ts';

export interface Judgement {
  readonly operations: number;
  readonly receipts: Readonly<Record<string, number>>;
  readonly parked: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
  readonly history: History;
}

interface Standing {
  readonly operationId: string;
  readonly state: string;
  readonly context: ToolOperationContext;
}

/** Which tasks a server still holds open: nothing more can be learned of those. */
type OpenTasks = ReadonlySet<string>;

const FINAL = new Set(['ACCEPTED', 'CANCELLED_ACCEPTED', 'NOT_SUBMITTED', 'GIVEN_UP']);

export async function standings(ledger: OperationLedger): Promise<Standing[]> {
  return (await allOperations(ledger)).map(({ operationId, state, snapshot }) => ({
    operationId,
    state,
    context: ToolOperationContext.parse((JSON.parse(snapshot) as { context: unknown }).context),
  }));
}

export async function openTasks(servers: readonly ScriptedPort[]): Promise<OpenTasks> {
  const open = new Set<string>();
  for (const { port } of servers) {
    for (const { taskId, status } of await controls(port).tasks())
      if (status === 'working' || status === 'input_required') open.add(taskId);
  }
  return open;
}

/** `null`: at rest. Otherwise what it still waits for, although its server can answer. */
export function unrest({ state, context }: Standing, open: OpenTasks): string | null {
  if (FINAL.has(state)) return null;
  const reason = context.parked?.reason;
  if (reason === undefined) return `under way (${state})`;
  // The reply was lost, and the server offers no look-up.
  if (reason === 'no-lookup' && context.capabilities.lookup === 'none' && context.taskId === null) return null;
  // A question went down with its connection: the server waits for an answer that it will never ask for again.
  const stuck = context.taskId !== null && open.has(context.taskId);
  if ((reason === 'input-deadline' || reason === 'wait-budget') && stuck) return null;
  return `parked (${reason}) although its server can answer`;
}

/** Waits while ever more comes to rest, at most `patienceMs` for the next one. Answers what is not at rest then. */
export async function settle(
  ledger: OperationLedger,
  servers: readonly ScriptedPort[],
  patienceMs: number,
  progress: (restless: number) => void,
): Promise<readonly Violation[]> {
  let fewest = Number.POSITIVE_INFINITY;
  let deadline = 0;
  for (;;) {
    const restless = await look(ledger, servers);
    progress(restless.length);
    if (restless.length < fewest) {
      fewest = restless.length;
      deadline = Date.now() + patienceMs;
    }
    if (fewest === 0 || Date.now() > deadline) return restless;
    await sleep(1_000);
  }
}

async function look(ledger: OperationLedger, servers: readonly ScriptedPort[]): Promise<Violation[]> {
  const open = await openTasks(servers);
  return (await patiently(() => standings(ledger))).flatMap((standing) => {
    const what = unrest(standing, open);
    return what === null ? [] : [{ row: 'G5', callNode: standing.context.callNodeId, what }];
  });
}

/** A ledger that just came back, or a machine that is busy, may fail to answer once more. */
async function patiently<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof LedgerUnavailable) || tries > 20) throw error;
      await sleep(500);
    }
  }
}

export async function judge(
  ledger: OperationLedger,
  servers: readonly ScriptedPort[],
  deliveries: readonly Delivery[],
  found: readonly Violation[],
  forgot: ReadonlySet<string> = new Set(),
): Promise<Judgement> {
  const history = await patiently(() => recordHistory({ ledger, servers, deliveries, forgot, settled: true }));
  const stand = await patiently(() => standings(ledger));
  const nodes = new Map(stand.map(({ operationId, context }) => [operationId, context.callNodeId]));
  const audit = (await patiently(() => ledger.audit())).map(({ operationId, problem }) => ({
    row: 'G6',
    callNode: nodes.get(operationId) ?? operationId,
    what: `audit: ${problem}`,
  }));
  return {
    operations: stand.length,
    receipts: counted(history.calls.flatMap(({ ledger: { receipts } }) => receipts.slice(0, 1).map((r) => r.outcome))),
    parked: counted(stand.flatMap(({ context }) => (context.parked === null ? [] : [context.parked.reason]))),
    violations: [...found, ...check(history), ...audit],
    history,
  };
}

function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
