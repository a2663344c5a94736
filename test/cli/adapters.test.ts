import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { type ScriptedServer2026, startScriptedServer2026 } from '../kit/servers/mcp-2026-07-28.ts';
import { toolop } from './command.ts';

const dir = mkdtempSync(join(tmpdir(), 'toolop-cli-'));
const ledger = ['--ledger', join(dir, 'ledger.db')];
let older: ScriptedServer;
let newer: ScriptedServer2026;
beforeAll(async () => {
  [older, newer] = await Promise.all([startScriptedServer({ limits: { work: 5_000 } }), startScriptedServer2026()]);
});
afterAll(async () => {
  await Promise.all([older.stop(), newer.stop()]);
  rmSync(dir, { recursive: true, force: true });
});

const run = (url: string, script: object, ...more: string[]) =>
  toolop(['run', ...ledger, '--url', url, '--tool', 'work', '--args', JSON.stringify({ script }), '--json', ...more]);
const adapters = (...more: string[]) => toolop(['adapters', ...ledger, '--json', ...more]);

describe('toolop and the protocols', { timeout: 120_000 }, () => {
  it.each([
    ['mcp-2026-07-28', () => newer.url, { ms: 20 }],
    ['sync', () => older.url, { ignoreTask: true }],
  ] as const)('B2: run --protocol %s', async (protocol, url, script) => {
    const { code, last } = await run(url(), script, '--protocol', protocol);
    expect(last).toMatchObject({ receipt: { outcome: 'completed', protocol } });
    expect(code).toBe(0);
  });

  it('a protocol that is none is a matter of usage, and the list is named', async () => {
    const { code, stdout, stderr } = await run(older.url, {}, '--protocol', 'mcp-2024');
    expect(code).toBe(2);
    expect(stdout + stderr).toContain('mcp-2025-11-25');
  });

  it('R4: drained, in use, out of use, and back', async () => {
    const id = 'left:1';
    const waiting = await run(older.url, { outcome: 'hold' }, '--wait-budget', '500', '--node', id);
    expect(waiting.code).toBe(5);
    const drained = await adapters('--drain', 'mcp-2025-11-25');
    expect(drained.last).toMatchObject({ adapter: 'mcp-2025-11-25', state: 'draining' });

    const refused = await run(older.url, {});
    expect(refused.code).toBe(3);
    expect(refused.stdout + refused.stderr).toContain('draining');

    const needed = await adapters('--disable', 'mcp-2025-11-25');
    expect(needed.code).toBe(3);
    expect(needed.last).toMatchObject({ count: 1, needed: [{ state: expect.stringMatching(/^PARKED/) }] });
    const shown = await adapters();
    expect(shown.last).toMatchObject({
      adapters: expect.arrayContaining([{ adapter: 'mcp-2025-11-25', state: 'draining', open: 1 }]),
    });

    await toolop(['reconcile', id, 'give-up', ...ledger, '--note', 'nobody waits for it']);
    await toolop(['attach', id, ...ledger, '--json']);
    expect((await adapters('--disable', 'mcp-2025-11-25')).last).toMatchObject({ state: 'disabled' });
    expect((await adapters('--activate', 'mcp-2025-11-25')).last).toMatchObject({ state: 'active' });
  });

  it('one switch at a time, of an adapter that there is', async () => {
    const both = await adapters('--drain', 'sync', '--activate', 'sync');
    expect([both.code, both.stdout + both.stderr]).toEqual([2, expect.stringContaining('give one of')]);
    const none = await adapters('--drain', 'nope');
    expect([none.code, none.stdout + none.stderr]).toEqual([2, expect.stringContaining('sync')]);
  });
});
