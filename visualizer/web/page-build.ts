/** Makes each page out of its sources: one script, one style, and the drawing that they share. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chartCss, chartSvg } from '../chart/svg.ts';
import type { PageFiles, PageName } from './page-files.ts';

const source = (name: string): string => fileURLToPath(new URL(`./page/${name}`, import.meta.url));

const ENTRIES: Readonly<Record<PageName, string>> = { page: 'main.tsx', inspect: 'inspect/main.tsx' };

export async function buildPage(name: PageName = 'page'): Promise<PageFiles> {
  const { outputFiles } = await build({
    entryPoints: { [name]: source(ENTRIES[name]) },
    bundle: true,
    write: false,
    outdir: source('.'),
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'inline',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.css': 'css' },
  });
  const textOf = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  // The policy of the page allows no style inside the drawing.
  return { script: textOf('.js'), style: `${chartCss}\n${textOf('.css')}`, chart: chartSvg({ style: false }) };
}

/** Beside the compiled modules, where `page-files.ts` looks. */
export async function writePages(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for (const name of Object.keys(ENTRIES) as PageName[]) {
    const { script, style, chart } = await buildPage(name);
    for (const [file, text] of Object.entries({ [`${name}.js`]: script, [`${name}.css`]: style, 'chart.svg': chart })) {
      writeFileSync(join(directory, file), text);
    }
  }
}
