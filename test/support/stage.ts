/** Rig, scripted servers and proxies of one test file, all stopped at its end. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { OperationLedger } from '../../machines/index.ts';
import { type ScriptedOptions, type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { startProxy, type TcpProxy } from '../kit/tcp-proxy.ts';
import type { ExecutorOrders } from './executor-process.ts';
import { ExecutorProcess } from './processes.ts';
import { type LedgerKind, NAMESPACE, type Rig, startRig } from './rig.ts';

export interface Stage {
  readonly rig: Rig;
  readonly ledger: OperationLedger;
  /**
   * A scripted server that no other call of the same test got. Without a port it may be one that an earlier test used,
   * reset: starting one costs more than most tests.
   */
  server(options?: Partial<ScriptedOptions>, port?: number): Promise<ScriptedServer>;
  proxy(port: number): Promise<TcpProxy>;
  process(
    orders: Omit<ExecutorOrders, 'ledger' | 'namespace' | 'leaseMs'> & { readonly leaseMs?: number },
  ): ExecutorProcess;
}

/** Call inside a `describe`: gives the stage once the tests run. */
export function useStage(kind: LedgerKind): () => Stage {
  let stage: Stage | null = null;
  const closers: (() => Promise<void>)[] = [];
  const pool = new Map<string, ScriptedServer[]>();
  const taken = new Map<string, number>();
  afterEach(async () => {
    taken.clear();
    await stage?.rig.retire();
  });
  beforeAll(async () => {
    const rig = await startRig(kind);
    closers.push(() => rig.close());
    stage = {
      rig,
      ledger: await rig.ledger(),
      async server(options = {}, port) {
        const key = JSON.stringify(options);
        const nth = taken.get(key) ?? 0;
        const used = port === undefined ? pool.get(key)?.[nth] : undefined;
        if (port === undefined) taken.set(key, nth + 1);
        if (used) {
          await used.control({ op: 'set', options });
          await used.control({ op: 'reset' });
          return used;
        }
        const started = await startScriptedServer(options, port);
        if (port === undefined) pool.set(key, [...(pool.get(key) ?? []), started]);
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
export const callsSeen = async (server: { log(): Promise<{ readonly counts: Readonly<Record<string, number>> }> }) =>
  (await server.log()).counts['tools/call'] ?? 0;
/** States of an operation in the order in which they were committed. */
export const pathOf = async (ledger: OperationLedger, operationId: string) =>
  (await ledger.readHistory(operationId)).map(({ to }) => to);
