/** This project: the executor on a ledger file, one executor for each process of the caller. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aip151 } from '../../../adapters/aip-151/index.ts';
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../../adapters/mcp-2026-07-28/index.ts';
import {
  consumeReady,
  Executor,
  type OperationLedger,
  OperationParked,
  type TerminalOutcome,
  type ToolCall,
} from '../../../machines/index.ts';
import { openLedger } from '../../../persistence/index.ts';
import { FAST, NAMESPACE } from '../../support/rig.ts';
import type { Told } from '../history.ts';
import { errorText, resultText } from '../text.ts';
import { type Client, type Contender, goingOn, type Scene, type Waiting } from './contender.ts';

const METHOD = { path: '/v1/{parent=projects/*}/reports:generate' };
const METHODS = { generate: METHOD, keyed: { ...METHOD, requestId: { field: 'requestId', retentionMs: 600_000 } } };

export function toolop(version: string): Contender {
  const directory = mkdtempSync(join(tmpdir(), 'toolop-compare-'));
  const ledgers: OperationLedger[] = [];
  let files = 0;
  const ledgerOf = async (memory: Map<string, unknown>): Promise<OperationLedger> => {
    const known = memory.get('ledger') as OperationLedger | undefined;
    if (known) return known;
    const ledger = await openLedger(join(directory, `${files++}.db`), { namespace: NAMESPACE });
    ledgers.push(ledger);
    memory.set('ledger', ledger);
    return ledger;
  };
  return {
    name: 'toolop',
    version,
    protocols: ['mcp-2025-11-25', 'mcp-2026-07-28', 'aip-151'],
    can: ['cancel', 'come-back', 'input'],
    notes: [
      'Calls again under the same call node, which is how the same call is said here; under another one it would be another call.',
      'The next step runs from the outbox (`consumeReady`), in each process of the caller.',
    ],
    open: async (scene, memory) => openProcess(scene, await ledgerOf(memory)),
    async stop() {
      await Promise.all(ledgers.map((ledger) => ledger.close().catch(() => undefined)));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function openProcess(scene: Scene, ledger: OperationLedger): Promise<Client> {
  const endpoint = { kind: 'http', url: scene.url } as const;
  const { requestTimeoutMs } = scene;
  const executor = new Executor({
    ledger,
    namespace: NAMESPACE,
    protocols: [mcp20251125(), mcp20260728(), aip151({ methods: METHODS, requestTimeoutMs })],
    endpoints: [endpoint],
    policy: { ...FAST, ...(scene.budgetMs === undefined ? {} : { waitBudgetMs: scene.budgetMs }) },
    leaseMs: 1_500,
    requestTimeoutMs,
    processTimeoutMs: 2_000,
    graceMs: 300,
    rate: { qps: 1_000, burst: 1_000 },
    approval: { ask: async () => ({ action: 'accept', content: { word: await scene.ask() } }) },
  });
  await executor.start();
  const end = new AbortController();
  const handle = async (outcome: TerminalOutcome) => void goingOn(scene, toldOf(outcome));
  const consumer = consumeReady({ ledger, consumer: executor.processId, handle, idleMs: 200 }, end.signal);
  const call: ToolCall = {
    callNodeId: scene.callNodeId,
    protocol: scene.protocol,
    endpoint,
    tool: scene.tool,
    arguments: scene.arguments,
  };
  const submit = (): Waiting => waitingFor(executor, call);
  return {
    call: submit,
    comeBack: async () => submit(),
    async close() {
      end.abort();
      await consumer;
      await executor.stop();
    },
  };
}

function waitingFor(executor: Executor, call: ToolCall): Waiting {
  const submitted = executor.submit(call);
  const stop = new AbortController();
  const told = submitted.then((answer): Told | Promise<Told> =>
    answer.kind === 'refused'
      ? { kind: 'error', text: `refused: ${answer.reason}` }
      : executor.wait(answer.operationId, stop.signal).then(toldOf, notTold),
  );
  return {
    told,
    async cancel() {
      await submitted;
      await executor.cancel(executor.operationIdOf(call));
    },
    async leave() {
      stop.abort(new Error('the caller stopped waiting'));
    },
  };
}

function toldOf({ receipt, output }: TerminalOutcome): Told {
  const text = output === null ? '' : output.kind === 'error' ? errorText(output.value) : resultText(output.value);
  switch (receipt.outcome) {
    case 'completed':
      return { kind: 'completed', text, isError: false };
    case 'failed':
      return { kind: 'failed', text };
    case 'cancelled':
      return { kind: 'cancelled' };
    default:
      return { kind: 'error', text: `${receipt.outcome}: ${receipt.reason}` };
  }
}

function notTold(error: unknown): Told {
  if (error instanceof OperationParked) return { kind: 'parked', text: error.reason };
  return { kind: 'error', text: errorText(error) };
}
