/** The pages of the documentation and the blocks of code in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Block {
  /** Page and line, for messages. */
  readonly at: string;
  readonly language: string;
  readonly code: string;
  /** The comment right before it, which says how it is run: `run: WHERE prints /PATTERN/`, `server: ADAPTER TOOL ARGS prints /PATTERN/` or `suite: TESTS prints /PATTERN/`. */
  readonly how: string | null;
}

const guide = readdirSync(join(root, 'docs')).map((file) => `docs/${file}`);
export const pages: Readonly<Record<string, string>> = Object.fromEntries(
  ['README.md', ...guide].map((page) => [page, readFileSync(join(root, page), 'utf8')]),
);

export const blocks: readonly Block[] = Object.entries(pages).flatMap(([page, text]) =>
  [...text.matchAll(/(?:<!-- (.*?) -->\n)?```(\w*)\n([\s\S]*?)\n```/g)].map((match) => {
    const [, how = null, language = '', code = ''] = match;
    return { at: `${page}:${text.slice(0, match.index).split('\n').length}`, language, code, how };
  }),
);

/** What a heading is linked by. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(' ', '-');
