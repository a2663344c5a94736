/** A ledger with an executor, a scripted server, the page on it, and a browser that looks at it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { Executor, OperationLedger } from '../../machines/index.ts';
import { type OpenSite, openSite } from '../../visualizer/web/site.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { startBrowser } from '../support/browser.ts';
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

export interface Looking {
  readonly page: Page;
  readonly requests: readonly string[];
  readonly complaints: readonly string[];
}

export function useWeb(kind: LedgerKind): () => WebStage {
  let stage: WebStage | null = null;
  const closers: (() => Promise<unknown>)[] = [];
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
      async look(url, options = {}) {
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
        closers.push(() => context.close());
        const page = await context.newPage();
        const [requests, complaints]: [string[], string[]] = [[], []];
        page.on('request', (request) => requests.push(request.url()));
        page.on('pageerror', (error) => complaints.push(error.message));
        page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
        await page.goto(url);
        return { page, requests, complaints };
      },
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

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Serious and critical findings of axe on a page, as `rule: element`. Run beside the page's own scripts, which its policy allows no others. */
export async function barriers(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
  const contextId = world.executionContextId;
  await session.send('Runtime.evaluate', { contextId, expression: `${AXE};0` });
  const expression = 'axe.run(document).then(({ violations }) => JSON.stringify(violations))';
  const ran = await session.send('Runtime.evaluate', { contextId, expression, awaitPromise: true });
  const found = JSON.parse(String(ran.result.value)) as readonly Finding[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
}
