import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stdioCommand } from '../kit/servers/mcp-2025-11-25.ts';
import { Command, EVERYTHING, type Line, serverArgs, toolop } from './command.ts';

const dir = mkdtempSync(join(tmpdir(), 'toolop-cli-'));
let files = 0;
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const freshLedger = () => ['--ledger', join(dir, `${files++}.db`)];
const HOLD = ['--tool', 'work', '--args', '{"script":{"outcome":"hold","pollInterval":100}}'];

describe('another process', { timeout: 120_000 }, () => {
  it('cancels what only the first can serve (stdio): 4', async () => {
    const ledger = freshLedger();
    const first = new Command(['run', '--json', ...ledger, ...HOLD, ...serverArgs(stdioCommand())]);
    const { operationId } = await first.state('WORKING.polling');
    const cancel = await toolop([
      'cancel',
      String(operationId),
      '--reason',
      'second thoughts',
      '--wait',
      '--json',
      ...ledger,
    ]);
    expect(cancel).toMatchObject({ code: 4, last: { type: 'receipt', receipt: { outcome: 'cancelled' } } });
    expect(await first.end()).toMatchObject({ code: 4, last: { exitCode: 4, receipt: { outcome: 'cancelled' } } });

    const again = await toolop(['cancel', String(operationId), '--json', ...ledger]);
    expect(again).toMatchObject({ code: 3, last: { message: expect.stringContaining('too late') } });
  });

  it('answers what is asked through the first (stdio)', async () => {
    const ledger = freshLedger();
    const args = ['--tool', 'simulate-research-query', '--args', '{"topic":"python","ambiguous":true}'];
    const first = new Command(['run', '--json', ...ledger, '--node', 'ask:1', ...args, ...serverArgs(EVERYTHING)]);
    const { question } = (await first.state('INPUT_REQUIRED.awaiting')) as { question: Line };
    const binding = ['--round', String(question.round), '--schema-digest', String(question.schemaDigest)];

    const unbound = await toolop(['answer', 'ask:1', '--accept', '{}', ...ledger]);
    expect(unbound.code).toBe(2);
    expect(unbound.stderr).toContain(`--schema-digest ${question.schemaDigest}`);
    const misfit = await toolop(['answer', 'ask:1', ...binding, '--accept', '{"interpretation":"car"}', ...ledger]);
    expect(misfit).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/does not fit what the question asks for; \/inter/),
    });
    expect(misfit.stderr).not.toContain('replyFitsSchema');
    const otherRound = await toolop(['answer', 'ask:1', '--round', '9', ...binding.slice(2), '--decline', ...ledger]);
    expect(otherRound).toMatchObject({ code: 3, stderr: expect.stringContaining('another question than the one') });
    expect(otherRound.stderr).not.toContain('matchesInputRound');
    const otherForm = ['--round', String(question.round), '--schema-digest', 'f00d', '--decline', '--json'];
    expect(await toolop(['answer', 'ask:1', ...otherForm, ...ledger])).toMatchObject({
      ...{
        code: 3,
        last: { guards: ['matchesSchemaDigest'], message: expect.stringContaining('the form of the question') },
      },
    });

    const accept = ['--accept', '{"interpretation":"snake"}', '--wait', '--json'];
    expect(await toolop(['answer', 'ask:1', ...binding, ...accept, ...ledger])).toMatchObject({ code: 0 });
    const ended = await first.end();
    expect(ended.code).toBe(0);
    expect(JSON.stringify(ended.last.output)).toContain('snake');
  });
});
