import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScriptedServer, stdioCommand } from '../kit/servers/mcp-2025-11-25.ts';
import { Command, serverArgs, toolop, until } from './command.ts';

const dir = mkdtempSync(join(tmpdir(), 'toolop-cli-'));
let server: ScriptedServer;
let files = 0;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

const freshLedger = () => ['--ledger', join(dir, `${files++}.db`)];
const HOLD = ['--tool', 'work', '--args', '{"script":{"outcome":"hold","pollInterval":100}}'];

describe('what a command leaves behind', { timeout: 120_000 }, () => {
  it('goes on after SIGINT over HTTP: 6, then attach ends with what it came to', async () => {
    const ledger = freshLedger();
    const args = ['--tool', 'work', '--args', '{"script":{"ms":12000,"pollInterval":200}}', '--url', server.url];
    const first = new Command(['run', '--json', ...ledger, ...args]);
    const { operationId } = await first.state('WORKING.polling');
    first.signal('SIGINT');
    expect(await first.end()).toMatchObject({ code: 6, last: { type: 'detached', exitCode: 6, operationId } });

    const human = new Command(['attach', String(operationId).slice(4, 14), ...ledger]);
    await until(() => human.stderr.includes('WORKING.polling'));
    human.signal('SIGTERM');
    expect(await human.end()).toMatchObject({ code: 6, stderr: expect.stringContaining('nothing was cancelled') });

    const attached = await toolop(['attach', String(operationId), '--json', ...ledger]);
    expect(attached).toMatchObject({
      code: 0,
      last: { type: 'receipt', receipt: { outcome: 'completed', attempt: 1 } },
    });
    const show = await toolop(['show', String(operationId), '--history', '--output', ...ledger]);
    expect(show).toMatchObject({ code: 0, stdout: expect.stringContaining('submit.acknowledged') });
  });

  it('SIGINT over HTTP says how to attach again', async () => {
    const ledger = freshLedger();
    const first = new Command(['run', ...ledger, ...HOLD, '--url', server.url]);
    await until(() => first.stderr.includes('WORKING.polling'));
    first.signal('SIGINT');
    const { code, stderr } = await first.end();
    expect(stderr).toMatch(/toolop attach p00\.[0-9a-f]{12} --ledger \S+/);
    expect(code).toBe(6);
  });

  it('parks what a stdio run leaves behind: 5, and a human closes it', async () => {
    const ledger = freshLedger();
    const first = new Command(['run', ...ledger, '--node', 'left', ...HOLD, ...serverArgs(stdioCommand())]);
    await until(() => first.stderr.includes('WORKING.polling'));
    first.signal('SIGTERM');
    const left = await first.end();
    expect(left.stderr).toContain('will be PARKED');
    expect(left.code).toBe(5);

    const list = await toolop(['list', '--state', 'parked', '--json', ...ledger]);
    expect(list.last).toMatchObject({ type: 'list', total: 1, operations: [{ callNodeId: 'left' }] });
    const evidence = await toolop(['reconcile', 'left', '--json', ...ledger]);
    expect(evidence.last).toMatchObject({ type: 'evidence', evidence: { parked: { reason: 'server-gone' } } });
    expect(evidence.last.verbs).toContain('give-up');

    const [noNote, noVerb, noTask] = await Promise.all([
      toolop(['reconcile', 'left', 'give-up', ...ledger]),
      toolop(['reconcile', 'left', 'shrug', ...ledger]),
      toolop(['reconcile', 'left', 'attach', ...ledger]),
    ]);
    expect([noNote.code, noVerb.code, noTask.code]).toEqual([2, 2, 2]);
    const accept = ['accept', '--status', 'completed', '--result', '{"content":[]}', '--note', 'seen in its log'];
    expect(await toolop(['reconcile', 'left', ...accept, '--wait', '--json', ...ledger])).toMatchObject({
      ...{ code: 0, last: { type: 'receipt', receipt: { outcome: 'completed' } } },
    });
    const late = await toolop(['reconcile', 'left', 'give-up', '--note', 'x', '--json', ...ledger]);
    expect(late).toMatchObject({ code: 3, last: { verbs: [] } });
  });

  it('given up: 5; an unknown operation: 2; several: they are listed', async () => {
    const ledger = freshLedger();
    const runs = ['ada', 'bob'].map((principal) => {
      const node = ['--node', 'same', '--principal', principal];
      return new Command(['run', '--json', ...ledger, ...node, ...HOLD, ...serverArgs(stdioCommand())]);
    });
    await Promise.all(runs.map((run) => run.state('WORKING.polling')));
    const both = await toolop(['show', 'same', '--json', ...ledger]);
    expect(both).toMatchObject({ code: 2, last: { matches: [expect.any(String), expect.any(String)] } });
    const one = await toolop(['show', 'same', '--principal', 'bob', '--json', ...ledger]);
    expect(one).toMatchObject({
      code: 0,
      last: { principal: 'bob', record: { taskId: expect.stringMatching(/^task:/) } },
    });
    for (const run of runs) run.signal('SIGTERM');
    await Promise.all(runs.map((run) => run.end()));

    const giveUp = ['reconcile', 'same', 'give-up', '--principal', 'ada', '--note', 'nobody knows', '--wait', '--json'];
    expect(await toolop([...giveUp, ...ledger])).toMatchObject({ code: 5, last: { receipt: { outcome: 'given_up' } } });
    const unknown = await toolop(['show', 'p00.ffffff', ...ledger]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no operation') });
  });
});
