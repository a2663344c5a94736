/** A real Chromium, the one on the PATH. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** As root, which a container often is, Chromium runs without its own sandbox only. */
export function startBrowser(): Promise<Browser> {
  const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

export type Closers = (() => Promise<unknown>)[];

export interface Looking {
  readonly page: Page;
  readonly requests: readonly string[];
  readonly complaints: readonly string[];
}

/** A page of a browser of its own. */
export async function lookWith(
  browser: Browser,
  closers: Closers,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Looking> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  closers.push(() => context.close());
  const page = await context.newPage();
  const [requests, complaints]: [string[], string[]] = [[], []];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(url);
  return { page, requests, complaints };
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
