/** The page of the programs that send, in a real browser, with a real program and with what no honest one sends. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolop } from '../cli/command.ts';
import { startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { barriers, type Closers, lookWith, startBrowser } from '../support/browser.ts';
import { startRig } from '../support/rig.ts';
import { frames, useReceiver } from './stage.ts';

const HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">\u202e';
const LONG = 'w'.repeat(400);

const stage = useReceiver();
const closers: Closers = [];
let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
  closers.push(() => browser.close());
}, 60_000);
afterAll(async () => {
  for (const close of closers.reverse()) await close().catch(() => undefined);
});
const look = (url: string, options?: BrowserContextOptions) => lookWith(browser, closers, url, options);
const lit = (key: string) => `.state-box.lit > .state-name [data-state="${key}"]`;

describe('the page of the programs that send', { timeout: 90_000 }, () => {
  it('is there before them, draws each actor under who made it, and lights the active states live', async () => {
    const receiver = await stage.receiver();
    const { page, requests, complaints } = await look(receiver.url);
    await page.getByText('No program has connected yet').waitFor();
    expect(await page.locator('pre').textContent()).toContain(receiver.socket);
    const app = stage.app(receiver.socket, 'a note');
    await page.locator('.branch .branch .leaf', { hasText: 'clock' }).waitFor();
    await page.getByRole('link', { name: 'order' }).click();
    for (const key of ['order', 'open', 'payment', 'owed', 'delivery', 'waiting'])
      await page.locator(lit(key)).waitFor();
    expect(await page.locator(lit('pricing')).count()).toBe(0);

    const offers = page.locator('section', { has: page.getByRole('heading', { name: 'What may follow now' }) });
    expect(await offers.textContent()).toMatch(/SEND.*underway.*isPaid.*after 60000.*PAY.*ABORT/);
    app.event('PAY');
    await page.locator(lit('paid')).waitFor();
    expect(await page.locator(lit('owed')).count()).toBe(0);
    app.event('SEND');
    await page.locator('.branch .branch .leaf', { hasText: 'parcel' }).waitFor();
    expect(await page.locator('.log li', { hasText: 'SEND' }).textContent()).toContain(
      'open.delivery.underway.leaving',
    );
    await page.getByText('Context').click();
    const context = page.getByRole('region', { name: 'Context' }).getByText('"note": "a note"');
    await context.waitFor();
    app.event('MOVE');
    await page.locator(lit('travelling')).waitFor();
    // What was opened stays open while more comes.
    expect(await context.isVisible()).toBe(true);

    await page.reload();
    await page.locator(lit('travelling')).waitFor();
    expect(await page.locator('.log li').count()).toBeGreaterThanOrEqual(4);
    await app.end();
    await page.getByText('Its program has disconnected').waitFor();
    await page.getByText('Disconnected at').waitFor();
    expect(requests.every((asked) => asked.startsWith(new URL(receiver.url).origin))).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('shows of what is no machine how it is, and what came out', async () => {
    const receiver = await stage.receiver();
    const app = stage.app(receiver.socket);
    const { page } = await look(receiver.url);
    await page.getByRole('link', { name: 'price' }).click();
    await page.getByRole('region', { name: 'Output' }).getByText('"cents": 4200').waitFor();
    expect(await page.locator('.stands').textContent()).toContain('done');
    expect(await page.locator('.state-box').count()).toBe(0);
    await app.end();
  });

  it('toolop run --inspect ADDRESS is shown in it, with the chart that is drawn already', async () => {
    const [rig, server] = await Promise.all([startRig('embedded'), startScriptedServer()]);
    closers.push(
      () => rig.close(),
      () => server.stop(),
    );
    const receiver = await stage.receiver();
    const ledger = ['--ledger', rig.address, '--namespace', 'test', '--inspect', receiver.socket];
    const call = ['--tool', 'work', '--args', '{"script":{"ms":50,"pollInterval":20}}', '--url', server.url];
    expect((await toolop(['run', ...ledger, ...call])).code).toBe(0);
    const { page, complaints } = await look(receiver.url);
    await page.getByRole('link', { name: 'toolOperation' }).click();
    await page.locator('svg [data-state="ACCEPTED"].lit').waitFor();
    expect(await page.locator('svg [data-state="SUBMITTING"].walked').count()).toBe(1);
    expect(await page.locator('.state-box').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('is walked with the keyboard: to the search, to an actor, and back', async () => {
    const receiver = await stage.receiver();
    const sender = await stage.connect(receiver.socket);
    for (const name of ['alpha', 'beta', 'gamma']) sender.send(frames.actor(name, { parentId: 'alpha' }));
    const { page } = await look(receiver.url);
    await page.getByRole('link', { name: 'gamma' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('a');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'beta' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('actor');
    await page.keyboard.press('Escape');
    await page.getByText('Choose an actor').waitFor();
    await page.waitForFunction('document.activeElement.textContent === "beta"');
  });

  it('shows words of programs as text, whatever they hold, and breaks no layout at 360 px', async () => {
    const receiver = await stage.receiver();
    const sender = await stage.connect(receiver.socket);
    const words = `${HOSTILE}${LONG}`;
    const definition = JSON.stringify({
      ...{ id: words, description: words, initial: words, entry: words, invoke: { src: words, onDone: words } },
      states: { [words]: { on: { [words]: { target: words, guard: words, actions: [words] } } }, constructor: {} },
    });
    const state = {
      status: 'active',
      value: words,
      context: { [words]: words },
      output: words,
      error: words,
      tags: [words],
    };
    sender.send(frames.actor('x:0', { name: words, definition, snapshot: state, parentId: 'x:0' }));
    // Who made whom, in a circle.
    sender.send(frames.actor('x:1', { name: 'one', parentId: 'x:2' }));
    sender.send(frames.actor('x:2', { name: 'two', parentId: 'x:1' }));
    sender.send(frames.event('x:0', { type: words, [words]: words }, { sourceId: 'x:0' }));
    sender.send(frames.snapshot('x:0', state, { type: words }));
    sender.send('no JSON');
    const { page, complaints } = await look(receiver.url, { viewport: { width: 360, height: 740 } });
    await page.getByRole('link', { name: 'two' }).waitFor();
    expect(await page.locator('.leaf').count()).toBe(3);
    await page.getByText('1 frame refused').waitFor();
    const width = () => page.evaluate('document.documentElement.scrollWidth');
    expect(await width()).toBeLessThanOrEqual(360);
    await page.locator('[data-actor="1"]').click();
    await page.locator('.log li').waitFor();
    const closed = page.locator('details:not([open]) > summary');
    while ((await closed.count()) > 0) await closed.first().click();
    await page.locator('.state-box.lit .state-box.lit').waitFor();
    expect(await width()).toBeLessThanOrEqual(360);
    expect(await page.locator('.title').textContent()).toContain('<img src=x');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('has no serious barrier to anybody in %s', async (colorScheme) => {
    const receiver = await stage.receiver();
    const { page } = await look(receiver.url, { colorScheme });
    await page.getByText('No program has connected yet').waitFor();
    expect(await barriers(page)).toEqual([]);
    const app = stage.app(receiver.socket);
    const sender = await stage.connect(receiver.socket);
    for (const status of ['done', 'error', 'stopped']) sender.send(frames.actor(status, { snapshot: { status } }));
    await page.getByRole('link', { name: 'order' }).click();
    await page.locator(lit('owed')).waitFor();
    await page.getByRole('link', { name: 'stopped' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await app.end();
    await page.getByText('Its program has disconnected').waitFor();
    expect(await barriers(page)).toEqual([]);
  });
});
