/** What one walk is performed on: a ledger of its own, a server and a wire that nobody else uses, its time. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../../adapters/mcp-2026-07-28/index.ts';
import type { Json } from '../../../machines/digest.ts';
import type { OperationLedger, OperationProtocol, Policy, ToolCall } from '../../../machines/index.ts';
import type { Payload } from '../../../machines/operation-protocol.ts';
import type { OperationMachine } from '../../../machines/tool-operation/snapshot.ts';
import { openLedger } from '../../../persistence/index.ts';
import { endingOf } from '../../kit/servers/mcp-2025-11-25/world.ts';
import type { Script } from '../../kit/servers/mcp-2025-11-25.ts';
import { startScriptedServer } from '../../kit/servers/mcp-2025-11-25.ts';
import { startScriptedServer2026 } from '../../kit/servers/mcp-2026-07-28.ts';
import { withSessions } from '../../kit/sessions.ts';
import { type HttpProxy, startHttpProxy } from '../../kit/wire/http.ts';
import type { Deadline } from '../system/abstraction.ts';
import type { Contract } from '../system/server.ts';
import { GatedExecutor } from './gates.ts';
import { HandClock } from './hand-clock.ts';
import { type Hands, hands2025, hands2026 } from './hands.ts';

/** ms of the walk's own time. */
export const LEASE_MS = 600_000;
/** How long the adapter waits for the result of a task that a liar calls ended; the server gives it when it has it. */
const RESULT_MS = 2_000;
const REPEAT_MS = 5_000;
const SOON_MS = 20_000;
const NEVER_MS = 30 * 86_400_000;

export interface Theatre {
  readonly ledger: OperationLedger;
  readonly server: Hands;
  readonly wire: HttpProxy;
  readonly clock: HandClock;
  readonly call: ToolCall;
  /** The adapter's id. */
  readonly protocol: string;
  executor(epoch: number, creationAllowed: () => boolean): GatedExecutor;
  close(): Promise<void>;
}

let walks = 0;
/** One file per server, made once: each walk has a namespace of its own in it. In memory where that can be: no walk is about the disk. */
const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'toolop-walks-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

export interface Needs {
  readonly contract: Contract;
  /** The deadline that passes on the way, if one does, and how many leases run out while it runs. */
  readonly deadline: { readonly name: Deadline; readonly leases: number } | null;
  /** `redis://...`, or nothing for a file. */
  readonly address: string | null;
  /** Default: the production chart. */
  readonly machine?: OperationMachine;
}

/** One server of each revision, for one walk at a time. */
export interface Servers {
  readonly mcp20251125: Hands;
  readonly mcp20260728: Hands;
  stop(): Promise<void>;
}

export const serverOf = (servers: Servers, { input }: Contract): Hands =>
  input === 'status' ? servers.mcp20260728 : servers.mcp20251125;

export async function openTheatre(servers: Servers, needs: Needs): Promise<Theatre> {
  const { contract, deadline } = needs;
  const server = serverOf(servers, contract);
  const clock = new HandClock();
  const namespace = `walk-${process.pid}-${walks++}`;
  const ledger = await openLedger(needs.address ?? join(directory, `${server.port}.db`), {
    namespace,
    partitions: 1,
    now: clock.ledgerNow,
  });
  const soon = SOON_MS + (deadline?.leases ?? 0) * (LEASE_MS + 1_000);
  const within = (name: Deadline) => (deadline?.name === name ? soon : NEVER_MS);
  await server.become(contract, contract.lookup === 'closing' ? within('key') : null);
  const wire = await startHttpProxy(server.url);
  const policy: Policy = {
    pollIntervalMs: 1,
    minPollIntervalMs: 1,
    maxPollIntervalMs: 1,
    jitter: 0,
    maxBackoffMs: 1,
    waitBudgetMs: within('wait'),
    lookupBudgetMs: within('step'),
    fetchBudgetMs: within('step'),
    cancelBudgetMs: within('step'),
    inputDeadlineMs: within('input'),
    parkedIntervalMs: 1,
  };
  const ttl = contract.forgets === 'never' ? null : within('expiry');
  const script = { ...server.script(contract, ttl), callNode: namespace };
  const endpoint = { kind: 'http' as const, url: wire.url };
  const protocol = promising(contract, script as Script, within('key'));
  return {
    ledger,
    server,
    wire,
    clock,
    protocol: protocol.id,
    call: { callNodeId: namespace, endpoint, tool: 'work', arguments: { script }, policy },
    executor: (executionEpoch, creationAllowed) =>
      new GatedExecutor(ledger, protocol, {
        namespace,
        executionEpoch,
        creationAllowed,
        endpoints: [endpoint],
        clock,
        leaseMs: LEASE_MS,
        requestTimeoutMs: 2 ** 31 - 1,
        ...(needs.machine ? { machine: needs.machine } : {}),
        rate: { qps: 10_000, burst: 10_000 },
      }),
    async close() {
      await wire.close();
      await ledger.close();
    },
  };
}

/** The adapter, for servers that promise what this revision of the protocol does not have. */
function promising(contract: Contract, script: Script, keyMs: number): OperationProtocol {
  if (contract.input === 'status') return mcp20260728();
  const protocol = mcp20251125({ resultTimeoutMs: RESULT_MS });
  if (contract.lookup === 'repeat') return onlyHears(repeats(protocol, keyMs));
  if (contract.cancel === 'cooperative') return onlyHears(protocol);
  return contract.forgets === 'withReceipt' ? showsResult(protocol, script) : protocol;
}

/** The look-up of AIP-155: the same call under the same key, at a server that answers it with what it made. */
function repeats(protocol: OperationProtocol, keyMs: number): OperationProtocol {
  return withSessions(protocol, (session) => ({
    ...session,
    async negotiate(...call) {
      const said = await session.negotiate(...call);
      if (said.kind === 'refused') return said;
      return {
        ...said,
        capabilities: { ...said.capabilities, lookup: 'repeat', input: 'none' },
        keyRetentionMs: keyMs,
      };
    },
    async lookup({ call, ...submission }, options) {
      if (!call) throw new Error('there is no call to repeat');
      const mayWrite = options?.mayWrite ?? (() => true);
      const waiting = { mayWrite, late: () => undefined, timeoutMs: REPEAT_MS };
      const said = await session.submit({ ...submission, ...call }, waiting);
      return said.kind === 'acknowledged'
        ? { kind: 'found', task: said.task }
        : { kind: 'unknown', reason: 'nothing came of the repetition' };
    },
  }));
}

/** The revision whose cancel is only heard: the same server, whose answer is taken for no more than that. */
function onlyHears(protocol: OperationProtocol): OperationProtocol {
  return withSessions(protocol, (session) => ({
    ...session,
    async negotiate(...call) {
      const said = await session.negotiate(...call);
      if (said.kind === 'refused') return said;
      return { ...said, capabilities: { ...said.capabilities, cancelEvidence: 'cooperative' } };
    },
  }));
}

/** Receipts that carry what became of the call: the same look-up, whose server kept that as well. */
function showsResult(protocol: OperationProtocol, script: Script): OperationProtocol {
  return withSessions(protocol, (session) => ({
    ...session,
    async lookup(...asked) {
      const said = await session.lookup(...asked);
      if (said.kind !== 'expiredWithReceipt' || said.status === 'cancelled') return said;
      const outcome = said.status === 'completed' ? 'complete' : 'rpcError';
      return { ...said, payload: payloadOf(endingOf('work', { ...script, outcome })) };
    },
  }));
}

const payloadOf = (ending: ReturnType<typeof endingOf>): Payload =>
  'error' in ending
    ? { kind: 'error', value: ending.error }
    : { kind: 'result', value: ending.result as Json, isError: false };

/** The task that was made last, as its server sees it. */
export async function taskOf({ server }: Theatre): Promise<{ readonly taskId: string; readonly status: string }> {
  const taskId = (await server.created()).at(-1);
  return (await server.tasks()).find((task) => task.taskId === taskId) ?? { taskId: taskId ?? 'none', status: 'none' };
}

/** Servers for as many walks at a time. */
export async function openServers(count: number): Promise<readonly Servers[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const [older, newer] = await Promise.all([startScriptedServer(), startScriptedServer2026()]);
      return {
        mcp20251125: hands2025(older),
        mcp20260728: hands2026(newer),
        async stop() {
          await Promise.all([older.stop(), newer.stop()]);
        },
      };
    }),
  );
}
