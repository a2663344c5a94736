/** Makes the page out of its sources: one script, one style, one drawing. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chartCss, chartSvg } from '../chart/svg.ts';
import type { PageFiles } from './page-files.ts';

const source = (name: string): string => fileURLToPath(new URL(`./page/${name}`, import.meta.url));

export async function buildPage(): Promise<PageFiles> {
  const { outputFiles } = await build({
    entryPoints: { page: source('main.tsx') },
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
export async function writePage(directory: string): Promise<void> {
  const { script, style, chart } = await buildPage();
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries({ 'page.js': script, 'page.css': style, 'chart.svg': chart })) {
    writeFileSync(join(directory, name), text);
  }
}
