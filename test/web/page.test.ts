/** The local page in a real browser, on a real ledger, beside an executor that serves a real server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { claimsOf } from '../../machines/actor/facts.ts';
import { barriers } from '../support/browser.ts';
import { accepted, LEDGERS, until, workCall } from '../support/rig.ts';
import { useWeb } from './stage.ts';

const HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">\u202e';
const LONG = 'w'.repeat(400);

describe.each(LEDGERS)('the page on %s', { timeout: 90_000 }, (kind) => {
  const web = useWeb(kind);
  const node = (name: string) => ({ callNodeId: `${kind}:${name}` });

  it('shows a call from its start to its receipt, each state within a second of its commit', async () => {
    const { executor, server, site, look } = web();
    const { url } = await site();
    const { page, requests, complaints } = await look(url);
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }, node('start')));
    const row = page.locator('tr', { has: page.locator(`[data-operation="${id}"]`) });
    await row.waitFor();
    await row.locator('a.open').click();
    await page.getByRole('heading', { level: 1, name: `${kind}:start` }).waitFor();
    const opened = await until(executor, id, (state) => state === 'WORKING.polling');
    await page.locator('[data-state="WORKING.polling"].lit').waitFor();

    const committed = new Promise<number>((resolve) => {
      executor.env.store.onCommit(({ snapshot }) => snapshot.value === 'ACCEPTED' && resolve(Date.now()));
    });
    const taskId = opened.snapshot.context.taskId ?? '';
    await server.control({ op: 'complete', taskId });
    await page.getByText('Completed after').waitFor();
    expect(Date.now() - (await committed)).toBeLessThan(kind === 'redis' ? 2_000 : 4_000);
    await page.locator('[data-state="ACCEPTED"].lit').waitFor();
    expect(await page.locator('body').textContent()).not.toContain(taskId);
    expect(requests.every((asked) => asked.startsWith(new URL(url).origin))).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('finds operations by state and by words, also with the keyboard', async () => {
    const { executor, server, site, look } = web();
    for (const name of ['alpha', 'beta']) {
      const id = await accepted(executor, workCall(server.endpoint, {}, node(name)));
      await executor.wait(id);
    }
    const { page } = await look((await site()).url);
    await page.getByText(`${kind}:beta`).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('alph');
    await page.getByText(`${kind}:beta`).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: `${kind}:alpha` }).waitFor();
  });

  it('shows a refused fact, and by which guard', async () => {
    const { executor, server, site, look } = web();
    const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }, node('stale')));
    const { snapshot } = await until(executor, id, (state) => state === 'WORKING.polling');
    const { context } = snapshot;
    const taskId = context.taskId ?? '';
    const task = {
      ...{ taskId, createdAt: context.taskCreatedAt, statusMessage: null, pollIntervalMs: null, expiry: null },
      status: 'working' as const,
      foreign: false,
    };
    const claims = { ...claimsOf(context, context.executionEpoch), cancelGeneration: context.cancelGeneration + 1 };
    const stamp = { at: executor.env.time.now(), random: 0 };
    await executor.env.store.apply(id, { ...stamp, type: 'poll.status', claims, task, result: null });
    const { page } = await look(`${(await site()).url}#/operation/${id}`);
    await page.getByText('matchesCancelGeneration').first().waitFor();
    await server.control({ op: 'complete', taskId });
  });

  it('B7: a question is answered by its form, B9: a cancel is asked for after it was said what it is', async () => {
    const { executor, server, site, look } = web();
    const { url } = await site(true);
    const asking = await accepted(executor, workCall(server.endpoint, { ask: 1 }, node('asks')));
    const { page, complaints } = await look(`${url}#/operation/${asking}`);
    await page.getByRole('heading', { name: /The server asks/ }).waitFor();
    await page.locator('form.answer input').first().fill('yes, do');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByText('Completed after').waitFor();

    const held = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }, node('held')));
    await page.goto(`${url}#/operation/${held}`);
    await page.getByRole('button', { name: /^Cancel/ }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toMatch(/request|may/i);
    await dialog.locator('button[type=submit]').click();
    await page.locator('[data-state="CANCELLED_ACCEPTED"].lit').waitFor();
    expect((await executor.wait(held)).receipt.outcome).toBe('cancelled');
    expect(complaints).toEqual([]);
  });

  it('only shows, unless it was started with --allow-actions: also for a request made by hand', async () => {
    const { executor, server, site, look } = web();
    const { url, token } = await site();
    const id = await accepted(executor, workCall(server.endpoint, { ask: 1 }, node('asks-nobody')));
    const { page } = await look(`${url}#/operation/${id}`);
    await page.getByText(`toolop answer ${id}`).waitFor();
    expect(await page.locator('form.answer').count()).toBe(0);
    const headers = { origin: new URL(url).origin, 'x-toolop-token': token, 'content-type': 'application/json' };
    const body = JSON.stringify({ verb: 'cancel', operationId: id, reason: null });
    const answer = await fetch(`${url}api/act`, { method: 'POST', headers, body });
    expect(answer.status).toBe(403);
    expect((await executor.load(id))?.snapshot.context.cancel).toBeNull();
    await executor.cancel(id);
  });

  it('what a server or a caller wrote is shown as text, and breaks no layout at 360 px', async () => {
    const { executor, server, site, look } = web();
    const call = workCall(server.endpoint, { note: HOSTILE } as never, { callNodeId: `${kind}:${HOSTILE}${LONG}` });
    const id = await accepted(executor, call);
    await executor.wait(id);
    const { url } = await site();
    for (const address of [url, `${url}#/operation/${id}`]) {
      const { page } = await look(address, { viewport: { width: 360, height: 740 } });
      await page.getByText('<img src=x').first().waitFor();
      await sleep(200);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    }
  });

  it.each(['light', 'dark'] as const)('has no serious barrier to anybody in %s', async (colorScheme) => {
    const { executor, server, site, look } = web();
    const id = await accepted(executor, workCall(server.endpoint, { ask: 1 }, node(`barriers-${colorScheme}`)));
    await until(executor, id, (state) => state.startsWith('INPUT_REQUIRED'));
    const { url } = await site(true);
    const { page } = await look(url, { colorScheme });
    await page.locator(`[data-operation="${id}"]`).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.goto(`${url}#/operation/${id}`);
    await page.getByRole('heading', { name: /The server asks/ }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await executor.cancel(id);
  });
});
