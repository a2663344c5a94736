import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { Command, toolop } from './command.ts';

const dir = mkdtempSync(join(tmpdir(), 'toolop-cli-'));
const ledger = ['--ledger', join(dir, 'ledger.db'), '--json'];
let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

const callOf = (node: string) => [
  ...['run', ...ledger, '--url', server.url, '--tool', 'work', '--node', node],
  ...['--args', '{"script":{"outcome":"hold","pollInterval":100}}'],
];

describe('toolop and the execution epoch', { timeout: 120_000 }, () => {
  it('R3: rollback in mid-flight: the running command leaves with the way on, another one takes over, 0 in flight', async () => {
    const running = new Command(callOf('roll:1'));
    await running.state('WORKING.polling');
    const rollback = new Command(['rollback', ...ledger]);
    await rollback.line(({ type, inFlight }) => type === 'rollback' && inFlight === 1);
    const left = await running.end();
    expect([left.code, left.last]).toEqual([
      6,
      expect.objectContaining({ type: 'epochOver', next: expect.stringContaining('toolop attach') }),
    ]);

    const refused = await toolop(callOf('roll:2'));
    expect([refused.code, refused.last]).toEqual([
      3,
      expect.objectContaining({ message: expect.stringContaining('switched off') }),
    ]);
    // The same call is the same operation: it is followed, not made again.
    const attached = new Command(callOf('roll:1'));
    await attached.state('WORKING.polling');
    await server.control({ op: 'complete', taskId: 'last' });
    expect((await attached.end()).last).toMatchObject({ receipt: { outcome: 'completed', executionEpoch: 2 } });
    const over = await rollback.end();
    expect([over.code, over.last]).toEqual([0, expect.objectContaining({ epoch: 2, inFlight: 0, parked: 0 })]);
    expect((await server.log()).counts['tools/call']).toBe(1);

    expect((await toolop(['creation', 'on', ...ledger])).last).toMatchObject({ creation: 'on' });
    const raised = await toolop(['epoch', 'raise', '--to', '5', '--adopt', ...ledger]);
    expect(raised.last).toMatchObject({ epoch: 5, epochs: [5], adopted: 0 });
    const back = await toolop(['epoch', 'raise', '--to', '4', ...ledger]);
    expect([back.code, back.last]).toEqual([
      2,
      expect.objectContaining({ message: expect.stringContaining('never goes back') }),
    ]);
    expect((await toolop(['epoch', ...ledger])).last).toMatchObject({ epochs: [5], creation: [true], inFlight: 0 });
  });
});
