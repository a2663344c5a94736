/** The programs of the pages as a user has them: in a project of their own, beside this package and its dependencies. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../adapters/mcp-2026-07-28/index.ts';
import { freePort } from '../kit/free-port.ts';
import { AipServer } from '../kit/servers/aip-151.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { accepted, type Rig, startRig } from '../support/rig.ts';
import { blocks, root } from './pages.ts';

const run = promisify(execFile);
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, unknown> };
const programs = blocks
  .filter(({ language }) => language === 'ts')
  .map((block, index) => {
    const [, kind = '', what = '', pattern = ''] = /^(\w+): (.*) prints \/(.*)\/$/.exec(block.how ?? '') ?? [];
    return { ...block, file: `example-${index}.ts`, kind, what, pattern: new RegExp(pattern) };
  });
const source = (name: string) =>
  join(root, name === 'toolop/testing' ? 'test/kit' : name.replace(/^toolop\//, ''), 'index.ts');
const imported = (code: string) => [...code.matchAll(/from '(toolop\/[^']+)'/g)].map(([, name = '']) => name);

describe('the examples of the pages', { timeout: 180_000 }, () => {
  const project = mkdtempSync(join(tmpdir(), 'toolop-docs-'));
  const addresses: [string, string][] = [];
  let everything: ChildProcess | undefined;
  let redis: RedisServer | undefined;
  let rig: Rig;
  const aip = new AipServer({ requestIdMs: 60_000 });
  let finishing: NodeJS.Timeout | undefined;

  beforeAll(async () => {
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    mkdirSync(join(project, 'somewhere'));
    const port = await freePort();
    const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
    everything = spawn(process.execPath, [server, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    for (let said = ''; !said.includes('listening'); ) said += String(await once(everything.stderr as never, 'data'));
    redis = await startRedis();
    rig = await startRig('embedded');
    await aip.listen();
    // Whatever was begun there comes to its end.
    finishing = setInterval(() => {
      if (aip.last !== '') aip.complete({ '@type': 'example.reports.v1.Report', title: 'tides' });
    }, 100);
    addresses.push(['localhost:3001', `localhost:${port}`], ['redis://127.0.0.1:6379', redis.url]);
    addresses.push(['https://reports.example.com', `http://127.0.0.1:${aip.port}`]);
  }, 60_000);
  afterAll(async () => {
    clearInterval(finishing);
    await rig.close();
    await aip.stop();
    await redis?.stop();
    everything?.kill('SIGKILL');
    rmSync(project, { recursive: true, force: true });
  });

  /** The program with its addresses replaced by those of the test, and this package by its sources. */
  function written({ code, file }: (typeof programs)[number]): string {
    const here = addresses.reduce((text, [from, to]) => text.replaceAll(from, to), code);
    const path = join(project, `run-${file}`);
    writeFileSync(
      path,
      here.replaceAll(/'(toolop\/[^']+)'/g, (_, name) => `'${pathToFileURL(source(name))}'`),
    );
    return path;
  }

  it('import what the package exports', () => {
    const names = programs.flatMap(({ code }) => imported(code)).map((name) => name.replace(/^toolop/, '.'));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(Object.keys(manifest.exports)).toContain(name);
  });

  it('are right for a strict type check', async () => {
    for (const { file, code } of programs) writeFileSync(join(project, file), code);
    const paths = Object.fromEntries(
      programs.flatMap(({ code }) => imported(code)).map((name) => [name, [source(name)]]),
    );
    const compilerOptions = { noEmit: true, rootDir: '/', paths };
    const ambient = join(root, 'persistence/**/*.d.ts');
    const files = programs.map(({ file }) => file);
    const config = { extends: join(root, 'tsconfig.json'), include: [ambient], files, compilerOptions };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    const check = run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project]);
    expect(await check.catch(({ stdout }) => ({ stdout }))).toMatchObject({ stdout: '' });
  });

  it.each(programs.filter(({ kind }) => kind === 'run'))('$at runs as it stands', async (program) => {
    const args = ['--import', import.meta.resolve('tsx'), written(program)];
    const options = { cwd: join(project, 'somewhere'), env: { ...process.env, TOKEN: 'secret' }, timeout: 150_000 };
    const { stdout } = await run(process.execPath, args, options);
    expect(stdout).toMatch(program.pattern);
  });

  it.each(programs.filter(({ kind }) => kind === 'suite'))('$at is a suite of tests', async (program) => {
    const suite = program.file.replace(/\.ts$/, '.test.ts');
    renameSync(written(program), join(project, suite));
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--root', project, suite, '-t', program.what];
    // What this run tells of itself is not for another one.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS)/.test(name)),
    );
    const options = { cwd: project, env: { ...env, NO_COLOR: '1' }, timeout: 150_000 };
    const { stdout } = await run(process.execPath, args, options).catch((failed: { stdout: string }) => failed);
    expect(stdout).toMatch(program.pattern);
    expect(stdout).not.toMatch(/failed/);
  });

  it.each(programs.filter(({ kind }) => kind === 'server'))('$at serves an executor', async (program) => {
    const [protocol = '', tool = '', args = ''] = program.what.split(' ');
    const executor = await rig.executor({
      protocols: [mcp20251125(), mcp20260728()],
      requestTimeoutMs: 20_000,
      approval: { ask: async () => ({ action: 'accept', content: { sure: true } }) },
    });
    const command = [import.meta.resolve('tsx'), written(program)];
    const operationId = await accepted(executor, {
      callNodeId: program.at,
      endpoint: { kind: 'stdio', command: process.execPath, args: ['--import', ...command] },
      protocol,
      tool,
      arguments: JSON.parse(args),
    });
    const { receipt, output } = await executor.wait(operationId);
    expect(receipt.outcome).toBe('completed');
    expect(JSON.stringify(output)).toMatch(program.pattern);
    await rig.retire();
  });
});
