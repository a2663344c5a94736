/** The package as a user gets it: packed, installed into an empty project, imported, compiled against, and run. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks } from '../docs/pages.ts';
import { leftOver, report, undocumented } from './api.ts';
import { buildPackage, entryPoints, manifest, root } from './built.ts';

const run = promisify(execFile);
const said = (command: string, args: readonly string[], cwd: string) =>
  run(command, args, { cwd, timeout: 150_000 }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr, message }: { stdout: string; stderr: string; message: string }) => {
      throw new Error(`${message}\n${stdout}\n${stderr}`);
    },
  );

describe('the package', { timeout: 180_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'toolop-package-'));
  const packed = join(directory, 'packed');
  const project = join(directory, 'project');
  const tarball = join(packed, `${manifest.name}-${manifest.version}.tgz`);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  beforeAll(async () => {
    mkdirSync(packed);
    mkdirSync(project);
    await buildPackage(packed);
    // It was built already; `prepack` would build the sources' own `dist`.
    await said('npm', ['pack', '--ignore-scripts'], packed);
    writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
    await said('npm', ['install', tarball, '--no-audit', '--no-fund', '--prefer-offline'], project);
    symlinkSync(join(root, 'node_modules'), join(packed, 'node_modules'));
  }, 240_000);

  it('every entry point imports in an empty project; what needs an optional package says which', async () => {
    const code = `const told = {};
      for (const name of ${JSON.stringify(entryPoints.map(({ name }) => name))}) {
        told[name] = await import(name).then((found) => Object.keys(found).length, (error) => error.message);
      }
      console.log(JSON.stringify(told));`;
    writeFileSync(join(project, 'import.js'), code);
    const told = JSON.parse(await said(process.execPath, ['import.js'], project)) as Record<string, number | string>;
    expect(Object.keys(told).length).toBeGreaterThan(7);
    for (const [name, found] of Object.entries(told)) {
      if (typeof found === 'number') expect(found, name).toBeGreaterThan(0);
      else expect(`${name}: ${found}`).toMatch(OPTIONAL);
    }
  });

  it('the command runs, and opens a ledger that a program of the project made', async () => {
    const bin = join(project, 'node_modules', '.bin', 'toolop');
    expect(await said(bin, ['--version'], project)).toContain(manifest.version);
    const code = `import { openLedger } from 'toolop/persistence';
      const ledger = await openLedger('ledger.db', { namespace: 'default' });
      console.log(JSON.stringify(await ledger.audit()));
      await ledger.close();`;
    writeFileSync(join(project, 'ledger.js'), code);
    expect(await said(process.execPath, ['ledger.js'], project)).toBe('[]\n');
    await said(bin, ['list', '--ledger', 'ledger.db', '--namespace', 'default', '--json'], project);
  });

  it('the pages of the command are in it: nothing is built where it is installed', async () => {
    const bin = join(project, 'node_modules', '.bin', 'toolop');
    for (const args of [['inspect'], ['web', '--ledger', 'ledger.db']]) {
      const command = spawn(bin, [...args, '--port', '0', '--json'], {
        cwd: project,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const [line] = (await once(createInterface({ input: command.stdout }), 'line')) as [string];
        const { url } = JSON.parse(line) as { readonly url: string };
        for (const part of ['', 'page.js', 'page.css']) expect((await fetch(`${url}${part}`)).status).toBe(200);
      } finally {
        command.kill('SIGINT');
      }
      expect(await once(command, 'exit')).toEqual([0, null]);
    }
  });

  it('types resolve, as the tool for that sees it, for those who import modules', async () => {
    const attw = join(root, 'node_modules', '.bin', 'attw');
    const told = JSON.parse(await said(attw, [tarball, '--profile', 'esm-only', '--format', 'json'], packed)) as {
      readonly analysis: { readonly entrypoints: Readonly<Record<string, unknown>> };
    };
    const names = entryPoints.map(({ name }) => name.replace(manifest.name, '.'));
    expect(Object.keys(told.analysis.entrypoints)).toEqual(expect.arrayContaining(names));
  });

  it('is published as its readers expect it (publint)', async () => {
    const { publint } = await import('publint');
    const { messages } = await publint({ pkgDir: packed, level: 'warning', pack: false });
    expect(messages).toEqual([]);
  });

  it('the programs of the pages compile against it, and so does an import of all of it', async () => {
    const programs = blocks.filter(({ language }) => language === 'ts').map(({ code }) => code);
    expect(programs.length).toBeGreaterThan(1);
    const all = entryPoints.map(({ name }, index) => `export * as e${index} from '${name}';`).join('\n');
    const files = [all, ...programs].map((code, index) => {
      writeFileSync(join(project, `program-${index}.ts`), code);
      return `program-${index}.ts`;
    });
    // Beside it, what such a project brings itself.
    for (const name of ['@types', '@modelcontextprotocol/server', 'typescript', 'vitest']) {
      const beside = join(project, 'node_modules', name);
      mkdirSync(join(beside, '..'), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), beside);
    }
    const compilerOptions = {
      ...{ target: 'ES2023', lib: ['ES2023'], module: 'NodeNext', moduleResolution: 'NodeNext', types: ['node'] },
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true },
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    expect(await said(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], project)).toBe('');
  });

  it('its public surface is the one that is written down: else `npm run api`, and look at the change', () => {
    expect(report(packed, 'compare')).toEqual([]);
    expect(leftOver()).toEqual([]);
  });

  it('every name of it, and every member of one, has a docstring', () => {
    expect(undocumented()).toEqual([]);
  });
});

/** What an entry point says that needs a package which is not installed with this one. */
const OPTIONAL = /^toolop\/\S+: Cannot find package '(@modelcontextprotocol\/server|vitest)'/;
