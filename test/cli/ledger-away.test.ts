import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScriptedServer, stdioCommand } from '../kit/servers/mcp-2025-11-25.ts';
import { startProxy } from '../kit/tcp-proxy.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { Command, serverArgs, until } from './command.ts';

let redis: RedisServer;
let server: ScriptedServer;
beforeAll(async () => {
  redis = await startRedis();
  server = await startScriptedServer();
});
afterAll(async () => {
  await server.stop();
  await redis.stop();
});

const HOLD = ['--tool', 'work', '--args', '{"script":{"outcome":"hold","pollInterval":100}}'];
const GONE = 'the ledger does not answer (';
const count = (text: string, part: string) => text.split(part).length - 1;

/** Sends a signal and says how long the command took to end, ms. */
async function leave(command: Command) {
  const from = performance.now();
  command.signal('SIGINT');
  const ended = await command.end();
  return { ...ended, ms: performance.now() - from };
}

describe('a ledger that goes away', { timeout: 120_000 }, () => {
  it('is told once when it goes and once when it is back, and the call ends as it would have', async () => {
    const args = ['--tool', 'work', '--args', '{"script":{"ms":9000,"pollInterval":200}}', '--url', server.url];
    const run = new Command(['run', '--ledger', redis.url, ...args]);
    await until(() => run.stderr.includes('WORKING.polling'));
    await redis.kill('SIGKILL');
    await until(() => run.stderr.includes(GONE));
    // Long enough for a second look at the same outage.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await redis.restart();
    await until(() => run.stderr.includes('the ledger answers again'));
    const { code, stderr } = await run.end();
    expect([count(stderr, GONE), count(stderr, 'the ledger answers again')]).toEqual([1, 1]);
    expect(stderr).toMatch(/ECONNREFUSED/);
    expect(stderr).not.toContain('whether the step was taken');
    expect(code).toBe(0);
  });

  it('is not waited for by SIGINT: 7, with what was seen and the way back', async () => {
    const run = new Command(['run', '--ledger', redis.url, ...HOLD, '--url', server.url]);
    await until(() => run.stderr.includes('WORKING.polling'));
    await redis.kill('SIGKILL');
    await until(() => run.stderr.includes(GONE));
    const { code, stderr, ms } = await leave(run);
    expect(stderr).toMatch(/last seen in WORKING\.polling/);
    expect(stderr).toContain('nothing was cancelled');
    const [, hint = ''] = /next: once the ledger answers: toolop (attach .+)\n/.exec(stderr) ?? [];
    expect(code).toBe(7);
    expect(ms).toBeLessThan(10_000);

    await redis.restart();
    const attached = new Command(hint.split(' '));
    await until(() => attached.stderr.includes('WORKING.polling'));
    expect((await leave(attached)).code).toBe(6);
  });

  it('is not waited for either when it is silent and nobody has noticed yet; a stdio server ends with the command', async () => {
    const proxy = await startProxy(redis.port);
    const address = `redis://127.0.0.1:${proxy.port}`;
    const run = new Command(['run', '--json', '--ledger', address, ...HOLD, ...serverArgs(stdioCommand())]);
    await run.state('WORKING.polling');
    await proxy.setMode({ kind: 'blackhole' });
    const { code, last, ms } = await leave(run);
    await proxy.close();
    expect(last).toMatchObject({ type: 'error', exitCode: 7, seen: 'WORKING.polling' });
    expect(last.next).toMatch(/toolop attach p\d\d\.[0-9a-f]{12}/);
    expect(code).toBe(7);
    expect(ms).toBeLessThan(12_000);
  });
});

describe('a ledger that cannot be reached', { timeout: 60_000 }, () => {
  const NOBODY = 'redis://user:hidden-word@127.0.0.1:1';
  it.each([
    [['run', '--tool', 'work', '--url', 'http://127.0.0.1:9/mcp']],
    [['list']],
    [['show', 'x']],
    [['attach', 'x']],
    [['cancel', 'x']],
    [['answer', 'x']],
    [['reconcile', 'x']],
  ])('%j says after a second what it waits for, and gives up within some: 7', async (args) => {
    const command = new Command([...args, '--ledger', NOBODY]);
    await until(() => command.stderr.includes('trying the ledger at redis://127.0.0.1:1'));
    const from = performance.now();
    const { code, stderr } = await command.end();
    expect(stderr).toMatch(
      /toolop: the ledger is unavailable: Redis at redis:\/\/127\.0\.0\.1:1 did not answer \(.*ECONN/,
    );
    expect(stderr).toMatch(/\n {2}next: .*--ledger/);
    expect(stderr).not.toContain('hidden-word');
    expect(code).toBe(7);
    // Five seconds less the one, on a busy machine; without a bound of its own it was fifteen.
    expect(performance.now() - from).toBeLessThan(10_000);
  });

  it('one that takes connections and says nothing is given up alike', async () => {
    const proxy = await startProxy(redis.port);
    await proxy.setMode({ kind: 'blackhole' });
    const address = `redis://127.0.0.1:${proxy.port}`;
    const command = new Command(['run', '--ledger', address, ...HOLD, '--url', server.url]);
    await until(() => command.stderr.includes('trying the ledger at'));
    const from = performance.now();
    const { code } = await command.end();
    await proxy.close();
    expect(code).toBe(7);
    expect(performance.now() - from).toBeLessThan(10_000);
  });
});
