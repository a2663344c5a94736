/** Each line of the pages that begins with `toolop` is one that the command takes: its words, its options. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { program } from '../kit/program.ts';
import { blocks, root } from './pages.ts';

const run = promisify(execFile);
const lines = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ at, code }) => code.split('\n').map((line) => ({ at, line: line.replace(/\s+#.*$/, '').trim() })))
  .filter(({ line }) => line.startsWith('toolop '));

const command = program(join(root, 'visualizer/cli/main.ts'));
const helps = new Map<string, Promise<string>>();
const helpOf = (words: readonly string[]): Promise<string> => {
  const key = words.join(' ');
  const asked =
    helps.get(key) ??
    run(process.execPath, [...command, ...words, '--help'], { cwd: root }).then(({ stdout }) => stdout);
  helps.set(key, asked);
  return asked;
};

it('the pages show command lines', () => expect(lines.length).toBeGreaterThan(20));

it('each line of the pages is one that toolop takes', { timeout: 120_000 }, async () => {
  for (const { at, line } of lines) {
    const [own = ''] = line.split(' -- ');
    const [name = '', second = ''] = own.split(/\s+/).slice(1);
    const outer = await helpOf([name]);
    expect(outer, `${at}: ${line}`).toContain(`Usage: toolop ${name}`);
    const isSub = /^[a-z]+$/.test(second) && new RegExp(`^  ${second}\\b`, 'm').test(outer);
    const help = isSub ? await helpOf([name, second]) : outer;
    for (const [option] of own.matchAll(/--[a-z-]+/g))
      expect(help, `${at}: ${line}`).toMatch(new RegExp(`${option}\\b`));
  }
});
