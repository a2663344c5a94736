import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statechartMermaid } from '../../visualizer/chart/mermaid.ts';
import { telemetryTables } from '../../visualizer/telemetry-tables.ts';
import { freePort } from '../support/scripted-server.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  exports: Record<string, unknown>;
};

describe('README', () => {
  it('shows the statechart as the machine is', () => {
    const [, picture] = /```mermaid\n([\s\S]*?)\n```/.exec(readme) ?? [];
    expect(picture).toBe(statechartMermaid());
  });

  it('names what is measured and traced as the code does', () => {
    const [, tables] = /<!-- telemetry:[^>]*-->\n([\s\S]*?)\n<!-- \/telemetry -->/.exec(readme) ?? [];
    expect(tables).toBe(telemetryTables());
  });

  it('names only commands that exist', () => {
    const named = [...readme.matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(Object.keys(manifest.scripts)).toContain(name);
  });
});

/** The examples as a user has them: in a project of their own, beside this package and its dependencies. */
describe('the examples of the README', { timeout: 180_000 }, () => {
  const examples = [...readme.matchAll(/```ts\n([\s\S]*?)\n```/g)].map(([, code = '']) => code);
  const project = mkdtempSync(join(tmpdir(), 'toolop-readme-'));
  let server: ChildProcess | undefined;
  let port = 0;

  beforeAll(async () => {
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    port = await freePort();
    const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
    server = spawn(process.execPath, [everything, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    for (let said = ''; !said.includes('listening'); ) said += String(await once(server.stderr as never, 'data'));
  }, 60_000);
  afterAll(() => {
    server?.kill('SIGKILL');
    rmSync(project, { recursive: true, force: true });
  });

  const source = (name: string) => join(root, name.replace(/^toolop\//, ''), 'index.ts');
  const imported = (code: string) => [...code.matchAll(/from '(toolop\/[^']+)'/g)].map(([, name = '']) => name);

  it('import what the package exports', () => {
    expect(examples.length).toBe(2);
    const names = examples.flatMap(imported).map((name) => name.replace(/^toolop/, '.'));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(Object.keys(manifest.exports)).toContain(name);
  });

  it('are right for a strict type check', async () => {
    const files = examples.map((code, index) => {
      writeFileSync(join(project, `example-${index}.ts`), code);
      return `example-${index}.ts`;
    });
    const paths = Object.fromEntries(examples.flatMap(imported).map((name) => [name, [source(name)]]));
    const compilerOptions = { noEmit: true, rootDir: '/', paths };
    const ambient = join(root, 'persistence/**/*.d.ts');
    const config = { extends: join(root, 'tsconfig.json'), include: [ambient], files, compilerOptions };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    const check = run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project]);
    expect(await check.catch(({ stdout }) => ({ stdout }))).toMatchObject({ stdout: '' });
  });

  it.each([
    [0, /^completed \{.*Research Report: tides/],
    [1, /^completed\n$/],
  ])('run as they stand: number %i', async (index, said) => {
    const code = (examples[index] ?? '')
      .replaceAll(/'(toolop\/[^']+)'/g, (_, name) => `'${pathToFileURL(source(name))}'`)
      .replaceAll('localhost:3001', `localhost:${port}`);
    const file = join(project, `run-${index}.ts`);
    writeFileSync(file, code);
    mkdirSync(join(project, 'somewhere'), { recursive: true });
    const args = ['--import', import.meta.resolve('tsx'), file];
    const { stdout } = await run(process.execPath, args, { cwd: join(project, 'somewhere'), timeout: 150_000 });
    expect(stdout).toMatch(said);
  });
});
