/** The page as it is sent: its script, its style and the drawn chart. Made by the build, or on the way from the sources. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PageSetup } from '../view/schema.ts';

export interface PageFiles {
  readonly script: string;
  readonly style: string;
  readonly chart: string;
}

const built = (name: string): string => fileURLToPath(new URL(`./page/${name}`, import.meta.url));

/** `page`: the ledger's; `inspect`: of the programs that send. */
export type PageName = 'page' | 'inspect';

export async function pageFiles(name: PageName = 'page'): Promise<PageFiles> {
  if (!existsSync(built('page.js'))) return (await import('./page-build.ts')).buildPage(name);
  const [script = '', style = '', chart = ''] = [`${name}.js`, `${name}.css`, 'chart.svg'].map((file) =>
    readFileSync(built(file), 'utf8'),
  );
  return { script, style, chart };
}

/** How the document gets at its style and its script: by links here, inside of it in a file of its own. */
export interface PageParts {
  readonly style: string;
  readonly script: string;
}
const LINKED: PageParts = {
  style: '<link rel="stylesheet" href="page.css">',
  script: '<script type="module" src="page.js"></script>',
};

const NO_SCRIPT =
  'This page needs JavaScript. The same is told by <code>toolop list</code> and <code>toolop show</code>.';

export function pageHtml(files: Pick<PageFiles, 'chart'>, setup: PageSetup, parts: PageParts = LINKED): string {
  return documentHtml(files, setup, NO_SCRIPT, parts);
}

/** The document. `setup` holds words of others: in it they can end nothing. */
export function documentHtml(
  { chart }: Pick<PageFiles, 'chart'>,
  setup: object,
  noScript: string,
  parts: PageParts = LINKED,
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>toolop</title>
<link rel="icon" href="data:,">
${parts.style}
</head>
<body>
<div id="app"></div>
<noscript>${noScript}</noscript>
<template id="chart">${chart}</template>
<script type="application/json" id="setup">${JSON.stringify(setup).replaceAll('<', '\\u003c')}</script>
${parts.script}
</body>
</html>
`;
}
