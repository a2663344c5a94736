/** What the pages say of the code is so. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { statechartMermaid } from '../../visualizer/chart/mermaid.ts';
import { telemetryTables } from '../../visualizer/telemetry-tables.ts';
import { anchorOf, blocks, pages, root } from './pages.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const everything = Object.values(pages).join('\n');

describe('the pages', () => {
  it('show the statechart as the machine is', () => {
    expect(blocks.filter(({ language }) => language === 'mermaid').map(({ code }) => code)).toEqual([
      statechartMermaid(),
    ]);
  });

  it('name what is measured and traced as the code does', () => {
    const [, tables] = /<!-- telemetry:[^>]*-->\n([\s\S]*?)\n<!-- \/telemetry -->/.exec(everything) ?? [];
    expect(tables).toBe(telemetryTables());
  });

  it('name only commands that exist', () => {
    const named = [...everything.matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(Object.keys(manifest.scripts)).toContain(name);
  });

  it('link to what is there', () => {
    const links = Object.entries(pages).flatMap(([page, text]) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => ({ page, link })),
    );
    const local = links.filter(({ link }) => !/^https?:/.test(link));
    expect(local.length).toBeGreaterThan(5);
    for (const { page, link } of local) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path));
      expect(existsSync(join(root, target)), `${page}: ${link}`).toBe(true);
      if (anchor === undefined) continue;
      const headings = [...(pages[target] ?? '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
      expect(headings, `${page}: ${link}`).toContain(anchor);
    }
  });

  it('hold no block of code that nothing runs', () => {
    const known = { ts: /^(run|server|suite): /, sh: /^/, json: /^/, mermaid: /^/, '': /^/ } as Readonly<
      Record<string, RegExp>
    >;
    for (const { at, language, how } of blocks) expect(how ?? '', at).toMatch(known[language] ?? /^no such language/);
    for (const { at, code } of blocks.filter(({ language }) => language === 'json')) {
      expect(() => JSON.parse(code), at).not.toThrow();
    }
  });
});
