/** A ledger with an executor, a scripted server, the page on it, and a browser that looks at it. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { Executor, OperationLedger } from '../../machines/index.ts';
import { type OpenSite, openSite } from '../../visualizer/web/site.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { type Closers, type Looking, lookWith, startBrowser } from '../support/browser.ts';
import { type LedgerKind, NAMESPACE, type Rig, startRig } from '../support/rig.ts';

export interface WebStage {
  readonly rig: Rig;
  readonly ledger: OperationLedger;
  readonly executor: Executor;
  readonly server: ScriptedServer;
  site(allowActions?: boolean): Promise<OpenSite>;
  /** A page of a browser of its own; what it asked of whom, and what it complained of. */
  look(url: string, options?: BrowserContextOptions): Promise<Looking>;
}

export function useWeb(kind: LedgerKind): () => WebStage {
  let stage: WebStage | null = null;
  const closers: Closers = [];
  beforeAll(async () => {
    const rig = await startRig(kind);
    closers.push(() => rig.close());
    const ledger = await rig.ledger();
    const executor = await rig.executor({ ledger });
    const server = await startScriptedServer();
    closers.push(() => server.stop());
    const browser: Browser = await startBrowser();
    closers.push(() => browser.close());
    stage = {
      ...{ rig, ledger, executor, server },
      async site(allowActions = false) {
        const site = await openSite({
          ...{
            ledger,
            executor,
            allowActions,
            namespace: NAMESPACE,
            name: 'the ledger of a test',
            port: 0,
            by: 'web:test',
          },
          hint: (command, operationId) => `toolop ${command} ${operationId}`,
        });
        closers.push(() => site.close());
        return site;
      },
      look: (url, options) => lookWith(browser, closers, url, options),
    };
  }, 60_000);
  afterAll(async () => {
    for (const close of closers.reverse()) await close().catch(() => undefined);
  });
  return () => {
    if (!stage) throw new Error('the stage is set before the tests of its file run');
    return stage;
  };
}
