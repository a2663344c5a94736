import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { EVERYTHING, serverArgs, toolop } from './command.ts';

const dir = mkdtempSync(join(tmpdir(), 'toolop-cli-'));
const ledger = join(dir, 'ledger.db');
let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

const work = (script: object, ...more: string[]) =>
  toolop([
    ...[
      'run',
      '--ledger',
      ledger,
      '--tool',
      'work',
      '--args',
      JSON.stringify({ script: { pollInterval: 100, ...script } }),
    ],
    ...['--json', ...more, '--url', server.url],
  ]);

describe('toolop run', { timeout: 120_000 }, () => {
  it('completes a call of the everything server over stdio: 0, states on stderr, the result on stdout', async () => {
    const args = ['--tool', 'simulate-research-query', '--args', '{"topic":"tides"}', ...serverArgs(EVERYTHING)];
    const { code, stdout, stderr } = await toolop(['run', '--ledger', join(dir, 'plain.db'), ...args]);
    expect(stdout).toContain('# Research Report: tides');
    expect(stderr).toMatch(/WORKING\.polling +working +Gathering sources/);
    expect(stderr).toMatch(/completed after \d/);
    expect(code).toBe(0);
  });

  it('emits one JSON object a line, the receipt as the last', async () => {
    const { code, stdout, stderr, last } = await work({});
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.slice(0, -1).every(({ type }) => type === 'state')).toBe(true);
    expect(lines.at(-2)).toMatchObject({ type: 'state', state: 'ACCEPTED', serverStatus: 'completed', tool: 'work' });
    expect(last).toMatchObject({
      ...{ type: 'receipt', exitCode: 0, output: { kind: 'result', isError: false } },
      receipt: {
        schema: 'terminalReceipt.v1',
        outcome: 'completed',
        taskId: expect.stringMatching(/^task:[0-9a-f]{8}$/),
      },
    });
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it('1 for a tool error and for a JSON-RPC error', async () => {
    const [tool, rpc] = await Promise.all([work({ outcome: 'isError' }), work({ outcome: 'rpcError' })]);
    expect(tool).toMatchObject({ code: 1, last: { exitCode: 1, receipt: { outcome: 'failed', isError: true } } });
    expect(rpc).toMatchObject({ code: 1, last: { exitCode: 1, receipt: { outcome: 'failed' } } });
  });

  it('2 for what cannot be meant, with one line, the next step and what to run for help', async () => {
    const base = ['run', '--ledger', ledger, '--tool', 'work'];
    const [badJson, noServer, badTtl, badHeader, noTool] = await Promise.all([
      toolop([...base, '--args', '{topic', '--url', server.url]),
      toolop(base),
      toolop([...base, '--url', server.url, '--ttl', 'soon']),
      toolop([...base, '--header', 'secret-without-colon', '--url', server.url]),
      toolop(['run', '--url', server.url]),
    ]);
    for (const { code, stderr, stdout } of [badJson, noServer, badTtl, badHeader, noTool]) {
      expect(code).toBe(2);
      expect(stderr).toMatch(/^toolop: .+\n( {2}next: .+\n)?( {2}help: toolop run --help\n)$/);
      expect(stderr).not.toContain('secret-without-colon');
      expect(stdout).toBe('');
    }
    expect(badJson.stderr).toContain('--args is not JSON');
    const unknown = await toolop(['lits']);
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Did you mean list.*\n {2}help: toolop --help\n$/),
    });
  });

  it('3 when the call is refused, and says that nothing was sent', async () => {
    const stdio = ['run', '--json', '--ledger', join(dir, 'refused.db'), '--tool'];
    const [noTasks, misfit, command, url] = await Promise.all([
      toolop([...stdio, 'echo', '--args', '{"message":"x"}', ...serverArgs(EVERYTHING)]),
      toolop([...stdio, 'work', '--args', '{"other":1}', '--url', server.url]),
      toolop([...stdio, 'work', '--', 'no-such-command-here']),
      toolop([...stdio, 'work', '--url', 'http://127.0.0.1:9/mcp']),
    ]);
    for (const { code, last } of [noTasks, misfit, command, url]) {
      expect(last).toMatchObject({
        type: 'error',
        exitCode: 3,
        message: expect.stringMatching(/^refused, nothing was sent: /),
      });
      expect(last.next).toEqual(expect.any(String));
      expect(code).toBe(3);
    }
    expect(noTasks.last.reason).toContain('does not support tasks');
    // It started well: what it prints then is no reason.
    expect(noTasks.last).not.toHaveProperty('serverStderr');
  });

  it('the same node with the same request is the same operation; with another request it is refused', async () => {
    const first = await work({}, '--node', 'n1');
    const again = await work({}, '--node', 'n1');
    const other = await work({ ms: 5 }, '--node', 'n1');
    expect(again.last.receipt).toEqual(first.last.receipt);
    expect(other).toMatchObject({
      code: 3,
      last: { message: expect.stringContaining('already made another request') },
    });
  });

  it('7 when the ledger cannot be asked or read', async () => {
    const broken = join(dir, 'broken.db');
    writeFileSync(broken, 'this is no database, and long enough to be looked at as one'.repeat(40));
    const [absent, foreign, away] = await Promise.all([
      toolop(['list', '--json', '--ledger', join(dir, 'absent.db')]),
      toolop(['list', '--json', '--ledger', broken]),
      toolop(['list', '--json', '--ledger', 'redis://user:hidden-word@127.0.0.1:9']),
    ]);
    for (const { code, last, stdout, stderr } of [absent, foreign, away]) {
      expect(last).toMatchObject({ type: 'error', exitCode: 7 });
      expect(stdout + stderr).not.toContain('hidden-word');
      expect(code).toBe(7);
    }
  });

  it('uses headers without storing or printing them', async () => {
    const secret = 'Bearer very-secret-word';
    const run = await toolop(
      ['run', '--ledger', ledger, '--tool', 'work', '--verbose', '--node', 'headers', '--url', server.url],
      { TOOLOP_HEADERS: `Authorization: ${secret}\nX-Other: 1` },
    );
    const show = await toolop(['show', 'headers', '--ledger', ledger, '--history', '--output', '--secrets', '--json']);
    expect(run.code).toBe(0);
    expect(run.stdout + run.stderr + show.stdout).not.toContain('very-secret-word');
  });
});
