/** `npm run chart`: everything that is drawn from the machine. With `--check`, only whether it is up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generate } from './generate.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const check = process.argv.includes('--check');
const old: string[] = [];
for await (const { file, content } of generate(root)) {
  const path = `${root}${file}`;
  if (readOr(path) === content) continue;
  old.push(file);
  if (!check) writeFileSync(path, content);
}
const said =
  old.length === 0 ? 'the pictures are as the machine is' : `${check ? 'out of date' : 'written'}: ${old.join(', ')}`;
console.log(check && old.length > 0 ? `${said}; run npm run chart` : said);
process.exitCode = check && old.length > 0 ? 1 : 0;

function readOr(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
