/**
 * A copy of the sources in which one file at a time is changed, and the tests that are run on it: what the mutants of scripts
 * and of the executor's own code are killed by. The production code needs no seam for it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['adapters', 'machines', 'persistence', 'test', 'package.json', 'tsconfig.json'];
/** Nothing is compiled before: tests of mutants start no programs of their own (but the scripted server, from its source). */
const CONFIG = `import { defineConfig } from 'vitest/config';
export default defineConfig({
  test: { include: ['test/**/*.test.ts'], testTimeout: 20_000, hookTimeout: 20_000 },
});
`;
const LIMIT_MS = 120_000;

/** A file of the project with a fault in it. */
export interface SourceMutant {
  readonly name: string;
  /** Relative to the root of the project. */
  readonly file: string;
  readonly text: string;
}

export interface Suite {
  readonly file: string;
  /** Only the tests whose full name fits this pattern. */
  readonly tests: string;
}

const Report = z.object({
  testResults: z.array(
    z.object({
      message: z.string().optional(),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
    }),
  ),
});

export class SourceCopy {
  readonly #directory = mkdtempSync(join(tmpdir(), 'toolop-mutate-'));
  #running: ChildProcess | null = null;

  constructor() {
    for (const name of COPIED) cpSync(join(root, name), join(this.#directory, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.#directory, 'node_modules'));
    writeFileSync(join(this.#directory, 'vitest.config.ts'), CONFIG);
  }

  /** The first test, suite by suite, that fails with the mutant in place. Throws where no test was run: that proves nothing. */
  async killer(mutant: SourceMutant | null, suites: readonly Suite[]): Promise<string | null> {
    if (mutant === null) return this.#first(suites);
    const path = join(this.#directory, mutant.file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, mutant.text);
    try {
      return await this.#first(suites);
    } finally {
      writeFileSync(path, original);
    }
  }

  async #first(suites: readonly Suite[]): Promise<string | null> {
    for (const suite of suites) {
      const killer = await this.#run(suite);
      if (killer !== null) return killer;
    }
    return null;
  }

  async #run({ file, tests }: Suite): Promise<string | null> {
    const report = join(this.#directory, 'report.json');
    rmSync(report, { force: true });
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    // A group of its own, so that nothing which the tests started outlives them, however they end.
    const child = spawn(
      process.execPath,
      [vitest, 'run', file, '-t', tests, '--bail=1', '--reporter=json', `--outputFile=${report}`],
      { cwd: this.#directory, stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, CI: '' }, detached: true },
    );
    this.#running = child;
    let words = '';
    child.stderr.on('data', (chunk: Buffer) => {
      words += chunk.toString();
    });
    let tooLong = false;
    const limit = setTimeout(() => {
      tooLong = true;
      this.#end();
    }, LIMIT_MS);
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
    clearTimeout(limit);
    this.#end();
    if (tooLong) return `${file}: does not end`;
    const results = Report.parse(JSON.parse(readOr(report, words))).testResults;
    const failed = results
      .flatMap(({ assertionResults }) => assertionResults)
      .find(({ status }) => status === 'failed');
    if (failed) return `${file}: ${failed.fullName.trim()}`;
    const ran = results.flatMap(({ assertionResults }) => assertionResults).some(({ status }) => status === 'passed');
    if (code !== 0) return `${file}: ${results.find(({ message }) => message)?.message?.split('\n')[0] ?? words}`;
    if (!ran) throw new Error(`no test of ${file} fits "${tests}"`);
    return null;
  }

  #end(): void {
    const pid = this.#running?.pid;
    this.#running = null;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  }

  close(): void {
    this.#end();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function readOr(path: string, words: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Error(`the tests gave no report: ${words}`);
  }
}
