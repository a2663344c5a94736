import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { Executor, type OperationLedger, setRolloutRule } from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { eventually, FAST, workCall } from '../support/rig.ts';
import { toolop } from './command.ts';

const dir = mkdtempSync(join(tmpdir(), 'toolop-cli-'));
const address = join(dir, 'ledger.db');
const namespace = 'default';
let server: ScriptedServer;
let ledger: OperationLedger;
let shadows: OperationLedger;
beforeAll(async () => {
  server = await startScriptedServer();
  ledger = await openLedger(address, { namespace });
  shadows = await openLedger(address, { namespace, kind: 'shadow' });
});
afterAll(async () => {
  await ledger.close();
  await shadows.close();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

const rollout = (...args: string[]) => toolop(['rollout', ...args, '--ledger', address, '--json']);

describe('toolop rollout and shadow', { timeout: 120_000 }, () => {
  it('R2: rules are shown, set and taken back, and obeyed by the next call', async () => {
    expect((await rollout()).last).toMatchObject({ type: 'rollout', version: 0, complete: true, rules: [] });
    await rollout('set', 'off');
    await rollout('set', '--tool', 'work', '2.5%');
    const set = await rollout('set', '--adapter', 'sync', 'on');
    const rules = [
      { of: 'default', mode: 'off' },
      { of: 'tool', name: 'work', mode: { percent: 2.5 } },
      { of: 'adapter', name: 'sync', mode: 'on' },
    ];
    expect([set.code, set.last]).toEqual([0, expect.objectContaining({ version: 3, complete: true, rules })]);
    const shown = await toolop(['rollout', '--ledger', address]);
    expect(shown.stdout).toMatch(/default +off\ntool work +2\.5%\nadapter sync +on\n/);

    await rollout('set', '--tool', 'work', '0%');
    const run = await toolop(['run', '--ledger', address, '--url', server.url, '--tool', 'work', '--json']);
    expect([run.code, run.stdout + run.stderr]).toEqual([3, expect.stringMatching(/side \\"ordinary\\".*tool 0%/)]);

    expect((await rollout('clear', '--tool', 'work')).last).toMatchObject({ rules: [rules[0], rules[2]] });
    expect((await rollout('clear', '--all')).last).toMatchObject({ rules: [] });
  });

  it('R1: a shadow without the operator’s word is refused, and what is no rule is a matter of usage', async () => {
    const refused = [
      await rollout('set', '--tool', 'work', 'shadow'),
      await rollout('set', 'shadow', '--effect-free'),
      await rollout('set', '101%'),
      await rollout('set', '--adapter', 'nope', 'on'),
      await rollout('set', '--adapter', 'sync', '--tool', 'work', 'on'),
      await rollout('clear', '--all', '--tool', 'work'),
    ];
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2]);
    const [undeclared, general] = refused.map(({ stdout }) => stdout);
    expect(undeclared).toMatch(/declared free of effects.*--effect-free/s);
    expect(general).toContain('--tool <name> shadow --effect-free');
    expect((await rollout()).last).toMatchObject({ rules: [] });
  });

  it('R1: the report names the field that differs', async () => {
    await setRolloutRule(ledger, { of: 'tool', name: 'work', mode: 'shadow', effectFree: true });
    const executor = await new Executor({
      ledger,
      shadowLedger: shadows,
      namespace,
      protocols: [mcp20251125()],
      policy: FAST,
    }).start();
    const said = (text: string) => async () => ({ content: [{ type: 'text', text }] });
    await executor.shadow(workCall(server.endpoint, {}), said('done'));
    await executor.shadow(workCall(server.endpoint, {}), said('otherwise'));
    const report = async () => (await toolop(['shadow', 'report', '--ledger', address, '--json'])).last;
    const found = await eventually(async () => {
      const last = await report();
      return last.compared === 2 ? last : null;
    }, 30_000);
    await executor.stop();
    expect(found).toMatchObject({
      type: 'shadow',
      calls: 2,
      equal: 1,
      different: 1,
      fields: [{ field: 'content[0]', count: 1 }],
      missing: { shadow: 0, ordinary: 0 },
    });
    const words = await toolop(['shadow', 'report', '--ledger', address]);
    expect(words.stdout).toMatch(/equal +1\n +different +1[\s\S]*differences by field\n +1 {2}content\[0\]/);
    // Looked at like any operation, and nobody's outcome.
    const listed = await toolop(['list', '--ledger', address, '--namespace', 'default/shadow', '--json']);
    const [first] = listed.last.operations as { operationId: string }[];
    const shown = await toolop([
      'show',
      String(first?.operationId),
      '--ledger',
      address,
      '--namespace',
      'default/shadow',
    ]);
    expect(shown.stdout).toMatch(/state +ACCEPTED/);
    expect(shown.stdout).toMatch(/shadow +only compared/);
    expect(shown.stdout).not.toContain('receipt');
  });
});
