/** What the kit's servers and proxies are told wrongly is said at once, to the one who said it, and changes nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import {
  type Control,
  type Control2026,
  controls,
  type Fault,
  type Fault2026,
  freePort,
  type RuleInput,
  type ScriptedOptions,
  type ScriptedOptions2026,
  type ScriptedServer,
  type ScriptedServer2026,
  type StdioEndpoint,
  startHttpProxy,
  startScriptedServer,
  startScriptedServer2026,
  stdioCommand,
  stdioCommand2026,
  stdioProxy,
  wireControls,
} from './index.ts';
import { BUNDLES } from './program.ts';
import { Command, Options } from './servers/mcp-2025-11-25/schema.ts';
import { Command as Command2026, Options as Options2026 } from './servers/mcp-2026-07-28/schema.ts';
import { understood } from './told.ts';

/** How a program that a client would start ends when nobody talks to it. */
async function ended({ command, args }: StdioEndpoint) {
  const child = spawn(command, args ?? [], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, err, code: code as number };
}
const withArgs = ({ command, args = [] }: StdioEndpoint, ...changed: readonly [from: string, to: string][]) => ({
  kind: 'stdio' as const,
  command,
  args: args.map((arg) => changed.find(([from]) => from === arg)?.[1] ?? arg),
});

const REVISIONS = [
  ['2025-11-25', startScriptedServer, stdioCommand, 'retentionMs, asksAgain, json'],
  ['2026-07-28', startScriptedServer2026, stdioCommand2026, 'retentionMs, cancel, cancelMs'],
] as const;

describe.each(REVISIONS)('the scripted server of %s', (_revision, start, command, known) => {
  let server: ScriptedServer | ScriptedServer2026;
  beforeAll(async () => {
    server = await start({ describe: 'as it was' });
  });
  afterAll(() => server.stop());
  const control = (told: unknown): Promise<void> => server.control(told as never);
  const post = async (body: string, path = '/control') => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', body });
    return { status: response.status, ...((await response.json()) as { readonly error?: string }) };
  };

  it('an option that it does not know, or cannot take, is named before it starts', async () => {
    const unknown = { lookups: true } as never;
    await expect(start(unknown)).rejects.toThrow(/^options of the scripted server: "lookups" is not known; allowed: /);
    await expect(start(unknown)).rejects.toThrow(known);
    await expect(start({ lookup: 'yes' } as never)).rejects.toThrow('lookup: Invalid input: expected boolean');
    expect(() => command(unknown)).toThrow('"lookups" is not known');
  });

  it('so are options on the command line', async () => {
    const good = command({});
    const told = await ended(withArgs(good, ['{}', '{"lookups":true}']));
    expect(told).toMatchObject({ out: '', code: 1, err: expect.stringContaining('"lookups" is not known; allowed') });
    const overHttp = await ended(withArgs(good, ['{}', '{lookup'], ['--stdio', '--with-parent']));
    expect(JSON.parse(overHttp.out)).toEqual({ error: expect.stringMatching(/^this is no JSON/) });
    expect(overHttp).toMatchObject({ code: 1, err: '' });
  });

  it('a port that is taken, or is none, is why it did not start', async () => {
    await expect(start({}, server.port)).rejects.toThrow(/did not start: listen EADDRINUSE/);
    await expect(start({}, 70_000)).rejects.toThrow(/did not start: a port is a whole number/);
  });

  it.each([
    [
      { op: 'compelte', taskId: 'last' },
      'op "compelte" is not known; allowed: fault, clearFaults, release, reset, set',
    ],
    [{ taskId: 'last' }, '"op" is missing; allowed: fault'],
    ['reset', 'expected object, received string'],
    [{ op: 'fault', method: 'tasks/get', kind: 'explode' }, 'kind "explode" is not known; allowed: rpc, answer'],
    [{ op: 'fault', kind: 'hold' }, 'method: Invalid input: expected string'],
    [{ op: 'fault', method: 'tasks/get', kind: 'hold', time: 2 }, '"time" is not known; allowed: op, method, times'],
    [{ op: 'fault', method: 'tasks/get', kind: 'delay', ms: 2 ** 31 }, 'ms: Too big'],
    [{ op: 'set', options: { lookups: true } }, 'options: "lookups" is not known; allowed: tasks'],
    [{ op: 'complete', taskId: 'last' }, 'there is no "last" one'],
    [{ op: 'complete', taskId: 'gone' }, 'there is no task "gone"; it holds none'],
  ])('control throws for %j', async (told, said) => {
    const before = await server.log();
    const refused = await control(told).catch(({ message }: Error) => message);
    expect(refused).toMatch(/^control: /);
    expect(refused).toContain(said);
    expect(await server.log()).toEqual(before);
  });

  it('a long mistake is not repeated whole', async () => {
    const refused = await control({ op: 'x'.repeat(1_000) }).catch(({ message }: Error) => message);
    expect(refused).toContain('xxx... is not known; allowed: fault');
    expect(String(refused).length).toBeLessThan(600);
  });

  it('a body that is no JSON, or too long, or meant for another path, is refused, and the server goes on', async () => {
    expect(await post('{"op":')).toEqual({ status: 400, error: expect.stringMatching(/^this is no JSON: /) });
    const long = JSON.stringify({ op: 'x'.repeat(17_000_000) });
    expect(await post(long)).toEqual({ status: 400, error: expect.stringMatching(/^17000\d+ bytes are too many/) });
    expect(await post('{}', '/control/logs')).toMatchObject({ error: expect.stringContaining('GET /control/log') });
    await control({ op: 'reset' });
  });

  it('nobody at the port is said', async () => {
    const nobody = controls(await freePort());
    await expect(nobody.control({ op: 'reset' })).rejects.toThrow(/^no scripted server answers on port \d+$/);
    await expect(nobody.log()).rejects.toThrow('no scripted server answers');
  });
});

describe('what the types allow', () => {
  it('every option and command of 2025-11-25, with all that belongs to it, is taken', () => {
    for (const option of Object.entries(OPTIONS))
      expect(understood(Options, Object.fromEntries([option]))).toBeTruthy();
    for (const [op, command] of Object.entries(COMMANDS)) expect(understood(Command, { op, ...command })).toBeTruthy();
    for (const [kind, fault] of Object.entries(FAULTS)) {
      const command = { op: 'fault', kind, method: 'tasks/get', times: 2, taskId: 'a', ...fault };
      expect(understood(Command, command)).toEqual(command);
    }
  });
  it('every option and command of 2026-07-28, with all that belongs to it, is taken', () => {
    expect(understood(Options2026, OPTIONS_2026)).toEqual(OPTIONS_2026);
    for (const [op, command] of Object.entries(COMMANDS_2026)) {
      expect(understood(Command2026, { op, ...command })).toEqual({ op, ...command });
    }
    for (const [kind, fault] of Object.entries(FAULTS_2026)) {
      const command = { op: 'fault', kind, method: 'tasks/get', times: 2, taskId: 'a', ...fault };
      expect(understood(Command2026, command)).toEqual(command);
    }
  });
});

describe('without the package of its SDK', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it('the scripted server of 2026-07-28 says what to install', { timeout: 60_000 }, async () => {
    const range = manifest.peerDependencies['@modelcontextprotocol/server'];
    // From its source, where the package is not to be found: nothing is bundled then.
    vi.stubEnv(BUNDLES, undefined);
    const hook = `export const resolve = (name, context, next) =>
      next(name, name.startsWith('@modelcontextprotocol/server') ? { ...context, parentURL: 'file:///nowhere/a.js' } : context);`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(moduleOf(hook))});`;
    vi.stubEnv('NODE_OPTIONS', `--import ${moduleOf(register)}`);
    await expect(startScriptedServer2026()).rejects.toThrow(
      `npm install --save-dev @modelcontextprotocol/server@${range}`,
    );
    await (await startScriptedServer()).stop(); // The other one needs nothing of it.
  });
});
const moduleOf = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

describe('the wire proxy', () => {
  const drop = { method: 'tools/list', direction: 'request', action: { kind: 'drop' } } as const;
  const replaced = (by: unknown) => ({ ...drop, action: { kind: 'replace', with: by } });
  const BAD: readonly [unknown, string][] = [
    [{ ...drop, action: { kind: 'explode' } }, 'rules[0].action: kind "explode" is not known; allowed: drop, delay'],
    [{ ...drop, direction: 'sideways' }, 'rules[0].direction: Invalid option: expected one of "request"|"response"'],
    [{ ...drop, time: 2 }, 'rules[0]: "time" is not known; allowed: method, direction, nth, times, action'],
    [replaced({ text: 'x' }), 'rules[0].action.with: one of these is put in place of a message'],
    [
      { ...drop, direction: 'notification', action: { kind: 'replace', with: { result: {} } } },
      'rules[0]: a notification has no answer',
    ],
  ];

  it('says what is wrong with a rule: at its start, over its port, and before a command is made', async () => {
    const proxy = await startHttpProxy('http://127.0.0.1:9/mcp', [drop]);
    for (const [rule, said] of BAD) {
      const rules = [rule as RuleInput];
      await expect(startHttpProxy('http://127.0.0.1:9/mcp', rules)).rejects.toThrow(said);
      await expect(proxy.rules(rules)).rejects.toThrow(`rules refused: ${said}`);
      expect(() => stdioProxy(stdioCommand(), 1, rules)).toThrow(said);
    }
    expect((await proxy.log()).rules.map(({ rule }) => rule.method)).toEqual(['tools/list']);
    const response = await fetch(`http://127.0.0.1:${proxy.port}/control`, { method: 'POST', body: '[' });
    expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(/^this is no JSON/)]);
    await proxy.close();
    await expect(proxy.log()).rejects.toThrow(`no wire proxy answers on port ${proxy.port}`);
  });

  it('does not start before what is no server, or on a port that is taken', async () => {
    await expect(startHttpProxy('127.0.0.1:80')).rejects.toThrow('named by a URL of http');
    await expect(startHttpProxy('https://example.com/mcp')).rejects.toThrow('named by a URL of http');
    const proxy = await startHttpProxy('http://127.0.0.1:9/mcp');
    await expect(startHttpProxy('http://127.0.0.1:9/mcp', [], proxy.port)).rejects.toThrow('EADDRINUSE');
    await proxy.close();
  });

  it('as a program it ends with why it did not start', async () => {
    const good = stdioProxy(stdioCommand(), 1);
    const said = await ended(withArgs(good, ['[]', '[{"method":""}]']));
    expect(said).toMatchObject({ code: 1, out: '' });
    expect(said.err).toMatch(/^the wire proxy did not start: rules\[0\]\.method: /);
    expect((await ended(withArgs(good, ['1', 'none']))).err).toContain('a port is a whole number');
    await expect(wireControls(await freePort()).rules([])).rejects.toThrow('no wire proxy answers');
  });
});

// What there is, by the types: whoever adds an option, a command, a fault or a field of one, adds it here, and sees it taken.
type Of<T extends { readonly op: string }> = {
  readonly [O in Exclude<T['op'], 'fault'>]: Required<Omit<Extract<T, { op: O }>, 'op'>>;
};
type Kinds<T extends { readonly kind: string }> = {
  readonly [K in T['kind']]: Required<Omit<Extract<T, { kind: K }>, 'kind' | 'method' | 'times' | 'taskId'>>;
};
const OPTIONS: ScriptedOptions = {
  ...{ tasks: true, cancel: true, lookup: true, dedup: true, retentionMs: null, asksAgain: true, json: true },
  ...{ resumable: true, stateless: true, protocolVersion: null, limits: { work: 1 }, receipts: true, describe: '' },
};
const OPTIONS_2026: ScriptedOptions2026 = {
  ...{ tasks: true, lookup: true, dedup: true, retentionMs: 1, cancel: 'ignore', cancelMs: 1, stream: true },
  ...{ describe: '', mirror: true },
};
const COMMANDS: Of<Control> = {
  ...{ clearFaults: {}, release: {}, reset: {}, forgetDone: {}, dropSessions: {}, exit: {} },
  set: { options: OPTIONS },
  complete: { taskId: 'a' },
  fail: { taskId: 'a', code: -1 },
  status: { taskId: 'a', status: 'odd' },
  statuses: { taskId: 'a', statuses: ['odd'] },
  lyingCancel: { on: true },
  forget: { taskId: 'a', receipt: true },
  expire: { taskId: 'a', inMs: 0 },
  reuse: { taskId: 'a', createdAt: 'then' },
  ask: { taskId: 'a', message: '' },
  askAgain: { taskId: 'a' },
};
const COMMANDS_2026: Of<Control2026> = {
  ...{ clearFaults: {}, release: {}, reset: {}, exit: {} },
  set: { options: OPTIONS_2026 },
  complete: { taskId: 'a' },
  fail: { taskId: 'a', code: -1 },
  status: { taskId: 'a', status: 'failed' },
  statuses: { taskId: 'a', statuses: ['working', 'input_required', 'completed', 'failed', 'cancelled'] },
  ask: { taskId: 'a', keys: ['one'] },
  forget: { taskId: 'a', receipt: true },
  expire: { taskId: 'a', inMs: 0 },
  pace: { taskId: 'a', pollIntervalMs: 1 },
  reuse: { taskId: 'a', createdAt: 'then' },
  endListens: { graceful: true },
};
const FAULTS: Kinds<Fault> = {
  ...{ hold: {}, silence: {}, resetBefore: {}, reset: {}, truncate: {}, emptyStream: {} },
  rpc: { code: -1, message: 'no' },
  answer: { result: { a: 1 } },
  delay: { ms: 1 },
  http: { status: 503, retryAfter: '1' },
  malformed: { eventStream: true },
};
const FAULTS_2026: Kinds<Fault2026> = {
  ...{ hold: {}, holdAnswer: {}, silence: {}, resetBefore: {}, reset: {}, truncate: {} },
  rpc: { code: -1, message: 'no', data: [1], status: 400 },
  answer: { result: 'whatever' },
  amend: { fields: { a: 1 } },
  delay: { ms: 1 },
  http: { status: 503, retryAfter: '1', body: 'no', type: 'text/plain' },
  text: { text: 'no', type: 'text/plain' },
};
