/** What an exported file says of an operation of a hostile server: every word as text, and also what was refused (issue 6, item 3). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimsOf } from '../../machines/actor/facts.ts';
import type { Executor, OperationLedger, OperationProtocol, ProtocolSession } from '../../machines/index.ts';
import { collectOperation } from '../../visualizer/export/collect.ts';
import { exportHtml } from '../../visualizer/export/html.ts';
import type { OperationExport } from '../../visualizer/export/schema.ts';
import { pageFiles } from '../../visualizer/web/page-files.ts';
import { answering, ENDPOINT } from '../bench/answering.ts';
import { type Closers, lookWith, startBrowser } from '../support/browser.ts';
import { accepted, LEDGERS, startRig, until } from '../support/rig.ts';

const hostile = (name: string) =>
  `${name}</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1"><!--\u2028\u202e`;
const FAR_MS = 3_600_000;

/** A server that calls its tool so, and says so. */
function hostileProtocol(): OperationProtocol {
  const { protocol } = answering({ workingPolls: Number.POSITIVE_INFINITY, pollIntervalMs: FAR_MS });
  return {
    ...protocol,
    async connect(...args) {
      const session = await protocol.connect(...args);
      const words = { statusMessage: hostile('status') };
      const hostileSession: ProtocolSession = {
        ...session,
        async negotiate(...asked) {
          const answer = await session.negotiate(...asked);
          return answer.kind === 'supported' ? { ...answer, tool: { ...answer.tool, name: hostile('tool') } } : answer;
        },
        async submit(...asked) {
          const answer = await session.submit(...asked);
          return answer.kind === 'acknowledged' ? { ...answer, task: { ...answer.task, ...words } } : answer;
        },
      };
      return hostileSession;
    },
  };
}

describe.each(LEDGERS)('an exported operation on %s', { timeout: 60_000 }, (kind) => {
  const closers: Closers = [];
  const directory = mkdtempSync(join(tmpdir(), 'toolop-export-'));
  let browser: Browser;
  let ledger: OperationLedger;
  let executor: Executor;
  let operationId: string;

  beforeAll(async () => {
    closers.push(async () => rmSync(directory, { recursive: true, force: true }));
    browser = await startBrowser();
    closers.push(() => browser.close());
    const rig = await startRig(kind);
    closers.push(() => rig.close());
    ledger = await rig.ledger();
    const policy = { maxPollIntervalMs: FAR_MS, waitBudgetMs: FAR_MS };
    executor = await rig.executor({ ledger, protocols: [hostileProtocol()], policy });
    const call = {
      callNodeId: hostile('node'),
      endpoint: ENDPOINT,
      tool: hostile('tool'),
      arguments: { a: hostile('argument') },
    };
    operationId = await accepted(executor, call);
    const { snapshot } = await until(executor, operationId, (state) => state === 'WORKING.polling');
    const { context } = snapshot;
    const claims = { ...claimsOf(context, context.executionEpoch), cancelGeneration: context.cancelGeneration + 1 };
    const task = {
      ...{ taskId: context.taskId ?? '', createdAt: context.taskCreatedAt, statusMessage: null, pollIntervalMs: null },
      ...{ status: 'working' as const, expiry: null, foreign: false },
    };
    const stamp = { at: executor.env.time.now(), random: 0 };
    await executor.env.store.apply(operationId, { ...stamp, type: 'poll.status', claims, task, result: null });
  }, 60_000);
  afterAll(async () => {
    for (const close of closers.reverse()) await close().catch(() => undefined);
  });

  const collect = async (secrets: boolean, from = ledger): Promise<OperationExport> => {
    const found = await collectOperation({ ledger: from, store: executor.env.store, secrets }, operationId);
    return found?.schema === 'toolop.operationExport' ? found : expect.fail('nothing was exported');
  };

  it('holds what was refused, and by which guard, where its page shows it', async () => {
    const { history, view } = await collect(false);
    const refused = history.filter((entry) => entry.refused !== undefined);
    expect(refused).toMatchObject([
      { event: 'poll.status', refused: expect.arrayContaining(['matchesCancelGeneration']) },
    ]);
    expect(history.map(({ event }) => event)).toEqual(view.timeline.map(({ event }) => event));
  });

  it('is read once', async () => {
    const calls: string[] = [];
    const counted = new Proxy(ledger, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          calls.push(String(name));
          return member.apply(target, args);
        };
      },
    });
    await collect(false, counted);
    expect(calls.filter((name) => name === 'readHistory')).toHaveLength(1);
  });

  it.each([true, false])('shows hostile words as text only (secrets: %s)', async (secrets) => {
    const exported = await collect(secrets);
    const file = join(directory, `${secrets}.html`);
    writeFileSync(file, exportHtml(await pageFiles(), exported, []));
    const { page, requests, complaints } = await lookWith(browser, closers, pathToFileURL(file).href);
    await page.getByRole('heading', { level: 1, name: 'node' }).waitFor();
    const said = (await page.locator('#app').textContent()) ?? '';
    for (const words of [hostile('node'), hostile('tool'), ...(secrets ? [hostile('status')] : [])]) {
      expect(said).toContain(words);
    }
    expect(JSON.stringify(exported).includes('status</script')).toBe(secrets);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([pathToFileURL(file).href]);
    expect(complaints).toEqual([]);
  });
});
