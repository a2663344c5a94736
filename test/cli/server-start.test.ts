import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stdioCommand } from '../kit/servers/mcp-2025-11-25.ts';
import { Command, serverArgs, toolop, until } from './command.ts';

const dir = mkdtempSync(join(tmpdir(), 'toolop-cli-'));
let files = 0;
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const run = (ledger: string, script: string, ...more: string[]) =>
  toolop(['run', ...more, '--ledger', ledger, '--tool', 'work', '--', process.execPath, '-e', script]);
const fresh = () => join(dir, `${files++}.db`);

describe('a stdio server that does not start', { timeout: 60_000 }, () => {
  it('that ends at once: its exit code and its last words, which stay out of the ledger', async () => {
    const ledger = fresh();
    const script = `
      for (let line = 1; line <= 500; line += 1) console.error('line ' + line + ' ' + 'x'.repeat(300));
      console.error('\\u001b[31mno licence\\u001b[0m\\u0007 found');
      process.exitCode = 3;`;
    const { code, stderr } = await run(ledger, script);
    expect(stderr).toContain("nothing was sent: the server's process ended with exit code 3 before it was ready");
    expect(stderr).toContain('  | no licence found\n');
    const words = stderr.split('\n').filter((line) => line.startsWith('    | '));
    expect(words).toHaveLength(10);
    expect(Math.max(...words.map((line) => line.length))).toBeLessThan(220);
    expect(stderr).not.toContain('\u001b');
    expect(stderr).toMatch(/next: check the server command/);
    expect(code).toBe(3);
    expect(readFileSync(ledger).includes('no licence')).toBe(false);
  });

  it('that is ended by a signal; as JSON', async () => {
    const { code, last } = await run(fresh(), `console.error('dying'); process.kill(process.pid, 'SIGKILL')`, '--json');
    expect(last).toMatchObject({
      ...{ type: 'error', exitCode: 3, serverStderr: ['dying'] },
      reason: "the server's process was ended by SIGKILL before it was ready",
    });
    expect(code).toBe(3);
  });

  it('that is no command', async () => {
    const { code, stderr } = await toolop(['run', '--ledger', fresh(), '--tool', 'x', '--', 'no-such-command-here']);
    expect(stderr).toContain('cannot be started: there is no such command, or no such working directory (ENOENT)');
    expect(code).toBe(3);
  });

  it('is seen to end also while a child of it holds its stderr open', async () => {
    const child = `require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => 0, 30000)'],
      { stdio: ['ignore', 'ignore', 'inherit'], detached: true }).unref(); console.error('launched'); process.exit(4)`;
    const timed = async (script: string) => {
      const from = performance.now();
      const { stderr } = await run(fresh(), script);
      return { stderr, ms: performance.now() - from };
    };
    const plain = await timed('process.exit(4)');
    const held = await timed(child);
    expect(held.stderr).toContain('ended with exit code 4');
    expect(held.stderr).toContain('  | launched\n');
    // Otherwise it shows by the time limit of `initialize`, fifteen seconds.
    expect(held.ms - plain.ms).toBeLessThan(9_000);
  });
});

describe('a stdio server that is gone', { timeout: 120_000 }, () => {
  const HOLD = ['--tool', 'work', '--args', '{"script":{"outcome":"hold","pollInterval":100}}'];

  it('cancel --wait does not wait for ever: 5, nothing can be asked, and what a human can do', async () => {
    const ledger = ['--ledger', fresh()];
    const first = new Command(['run', ...ledger, '--node', 'gone', ...HOLD, ...serverArgs(stdioCommand())]);
    await until(() => first.stderr.includes('WORKING.polling'));
    first.signal('SIGKILL');
    await first.end();

    // Nobody has noticed yet: this command does.
    const cancel = await toolop(['cancel', 'gone', '--wait', ...ledger]);
    expect(cancel.stderr).toContain('if that is dead, it shows within half a minute');
    expect(cancel.stderr).toContain('nothing can be asked any more, so the cancel cannot be confirmed');
    expect(cancel.stderr).toMatch(/decide \(.*give-up.*\): toolop reconcile p00/);
    expect(cancel.code).toBe(5);

    // Parked by now, with a cancel on record.
    const again = await toolop(['cancel', 'gone', '--wait', '--json', ...ledger]);
    expect(again).toMatchObject({ code: 5, last: { type: 'parked', verbs: expect.arrayContaining(['give-up']) } });
  });

  it('a cancel of what is parked because of it says that nobody can be told', async () => {
    const ledger = ['--ledger', fresh()];
    const first = new Command(['run', ...ledger, '--node', 'gone', ...HOLD, ...serverArgs(stdioCommand())]);
    await until(() => first.stderr.includes('WORKING.polling'));
    first.signal('SIGTERM');
    expect((await first.end()).code).toBe(5);
    const cancel = await toolop(['cancel', 'gone', ...ledger]);
    expect(cancel.stderr).toMatch(/its server is gone\. To decide by hand: toolop reconcile p00/);
    expect(cancel.code).toBe(0);
    expect(await toolop(['cancel', 'gone', '--wait', ...ledger])).toMatchObject({
      ...{ code: 5, stderr: expect.stringContaining('nothing can be asked any more') },
    });
  });
});
