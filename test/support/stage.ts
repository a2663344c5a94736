/** Rig, scripted servers and proxies of one test file, all stopped at its end. */
import { afterAll, beforeAll } from 'vitest';
import type { OperationLedger } from '../../machines/index.ts';
import type { ExecutorOrders } from './executor-process.ts';
import { ExecutorProcess } from './processes.ts';
import { type LedgerKind, NAMESPACE, type Rig, startRig } from './rig.ts';
import { type ScriptedOptions, type ScriptedServer, startScriptedServer } from './scripted-server.ts';
import { type Proxy, startProxy } from './tcp-proxy.ts';

export interface Stage {
  readonly rig: Rig;
  readonly ledger: OperationLedger;
  server(options?: Partial<ScriptedOptions>, port?: number): Promise<ScriptedServer>;
  proxy(port: number): Promise<Proxy>;
  process(
    orders: Omit<ExecutorOrders, 'ledger' | 'namespace' | 'leaseMs'> & { readonly leaseMs?: number },
  ): ExecutorProcess;
}

/** Call inside a `describe`: gives the stage once the tests run. */
export function useStage(kind: LedgerKind): () => Stage {
  let stage: Stage | null = null;
  const closers: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const rig = await startRig(kind);
    closers.push(() => rig.close());
    stage = {
      rig,
      ledger: await rig.ledger(),
      async server(...args) {
        const started = await startScriptedServer(...args);
        closers.push(() => started.stop());
        return started;
      },
      async proxy(port) {
        const started = await startProxy(port);
        closers.push(() => started.close());
        return started;
      },
      process(orders) {
        const started = new ExecutorProcess({
          leaseMs: 1_000,
          requestTimeoutMs: 4_000,
          ...orders,
          ledger: rig.address,
          namespace: NAMESPACE,
        });
        closers.push(() => started.kill());
        return started;
      },
    };
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close().catch(() => undefined);
  });
  return () => {
    if (!stage) throw new Error('the stage is set before the tests of its file run');
    return stage;
  };
}

/** `tools/call` requests that the server saw. */
export const callsSeen = async (server: Pick<ScriptedServer, 'log'>) => (await server.log()).counts['tools/call'] ?? 0;
/** States of an operation in the order in which they were committed. */
export const pathOf = async (ledger: OperationLedger, operationId: string) =>
  (await ledger.readHistory(operationId)).map(({ to }) => to);
