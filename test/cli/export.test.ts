/** One operation as one file for a bug report: without secrets, and harmless whatever a server said (issue 6, item 3). */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OperationExport } from '../../visualizer/export/schema.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { startBrowser } from '../support/browser.ts';
import { toolop } from './command.ts';

const dir = mkdtempSync(join(tmpdir(), 'toolop-export-'));
const ledger = join(dir, 'ledger.db');
const HOSTILE = `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">`;
const SECRET = 'argument-that-nobody-may-see';
let server: ScriptedServer;
let browser: Browser;
let operationId = '';
let taskId = '';

beforeAll(async () => {
  server = await startScriptedServer();
  browser = await startBrowser();
  const script = { pollInterval: 50, note: SECRET };
  const args = ['--tool', 'work', '--args', JSON.stringify({ script }), '--node', HOSTILE];
  const run = await toolop(['run', '--ledger', ledger, '--json', ...args, '--url', server.url]);
  expect([run.code, run.stdout.slice(-600)]).toEqual([0, expect.any(String)]);
  operationId = String((run.last.receipt as { operationId: string }).operationId);
  const shown = await toolop(['show', operationId, '--ledger', ledger, '--secrets', '--json']);
  taskId = String((shown.last.record as { taskId: string }).taskId);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

const exported = (...more: string[]) => toolop(['export', operationId, '--ledger', ledger, ...more]);

describe('toolop export', { timeout: 120_000 }, () => {
  it('writes JSON of a named schema, and leaves out what is nobody else’s business', async () => {
    const { stdout, code } = await exported('--format', 'json');
    expect(code).toBe(0);
    const found = OperationExport.parse(JSON.parse(stdout));
    expect(found).toMatchObject({ schema: 'toolop.operationExport', version: 1, redacted: true, arguments: null });
    expect(found.history.at(-1)).toMatchObject({ event: 'terminal.accept', to: 'ACCEPTED' });
    expect(found.record).toMatchObject({ state: 'ACCEPTED', value: 'ACCEPTED' });
    expect(taskId.length).toBeGreaterThan(8);
    for (const secret of [taskId, SECRET, server.url, '"principal": "local"', ledger]) {
      expect(stdout).not.toContain(secret);
    }
  });

  it('leaves nothing out where that is asked for', async () => {
    const { stdout } = await exported('--format', 'json', '--secrets');
    expect(OperationExport.parse(JSON.parse(stdout)).redacted).toBe(false);
    for (const secret of [taskId, SECRET, server.url]) expect(stdout).toContain(secret);
  });

  it.each([[[]], [['--secrets']]])(
    'is one file that opens anywhere, asks for nothing and runs no words %j',
    async (more) => {
      const file = join(dir, `operation${more.length}.html`);
      const { code, stderr } = await exported('--out', file, ...more);
      expect([code, stderr]).toEqual([0, expect.stringContaining('is written')]);
      const page = await browser.newPage();
      const asked: string[] = [];
      const wrong: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      page.on('pageerror', (error) => wrong.push(error.message));
      page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
      await page.goto(pathToFileURL(file).href);
      await page.waitForSelector('[data-state="ACCEPTED"].lit');
      expect(await page.locator('[data-edge].walked').count()).toBeGreaterThan(3);
      expect(await page.locator('h1').textContent()).toContain(HOSTILE);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      const embedded = await page.locator('#export').textContent();
      expect(OperationExport.parse(JSON.parse(embedded ?? '')).view.operationId).toBe(operationId);
      if (more.length === 0) expect(await page.content()).not.toContain(taskId);
      expect(asked).toEqual([pathToFileURL(file).href, ...asked.slice(1).filter((url) => url.startsWith('data:'))]);
      expect(wrong).toEqual([]);
      await page.close();
    },
  );

  it('overwrites nothing, and says what is wrong', async () => {
    const file = join(dir, 'twice.json');
    expect((await exported('--format', 'json', '--out', file)).code).toBe(0);
    const before = readFileSync(file, 'utf8');
    const { code, stderr } = await exported('--format', 'json', '--out', file);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is there already')]);
    expect(readFileSync(file, 'utf8')).toBe(before);
    const nowhere = join(dir, 'no', 'where.html');
    expect((await exported('--out', nowhere)).code).toBe(2);
    expect(existsSync(nowhere)).toBe(false);
    expect((await toolop(['export', 'nobody', '--ledger', ledger])).code).toBe(2);
  });
});

describe('toolop chart', { timeout: 60_000 }, () => {
  it.each([
    ['mermaid', /^stateDiagram-v2\n {2}\[\*\] --> SUBMITTING/],
    ['svg', /^<svg .*data-state="WORKING\.polling"/s],
  ])('prints %s', async (format, said) => {
    const { code, stdout } = await toolop(['chart', '--format', format]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(said)]);
  });

  it('prints the definition that Stately Studio takes, described', async () => {
    const { last, stdout } = await toolop(['chart', '--format', 'json']);
    expect(last).toEqual({});
    const definition = JSON.parse(stdout);
    expect(definition).toMatchObject({ id: 'toolOperation', initial: 'SUBMITTING' });
    expect(definition.states.WORKING.on['cancel.request'].description).toContain('cancelled');
  });

  it('knows no other format', async () => {
    expect((await toolop(['chart', '--format', 'png'])).code).toBe(2);
  });
});
