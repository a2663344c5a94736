/** What `npm run chart` writes: the chart and its layouts as a module, the picture of the README, and its Mermaid block. */
import { readFileSync } from 'node:fs';
import { chartOf, topLevel } from './graph.ts';
import { layOut } from './layout.ts';
import { statechartMermaid } from './mermaid.ts';

export interface Generated {
  /** From the root of the project. */
  readonly file: string;
  readonly content: string;
}

export const MODULE = 'visualizer/chart/chart.generated.ts';
const PICTURES = [
  ['visualizer/chart/statechart.svg', 'full'],
  ['visualizer/chart/statechart-compact.svg', 'top'],
] as const;

export async function* generate(root: string): AsyncGenerator<Generated> {
  yield { file: MODULE, content: await moduleText() };
  // Only now: it is drawn from what was just written.
  const { chartSvg } = await import('./svg.ts');
  for (const [file, level] of PICTURES) yield { file, content: `${chartSvg({ level })}\n` };
  yield { file: 'README.md', content: withMermaid(readFileSync(`${root}README.md`, 'utf8')) };
}

async function moduleText(): Promise<string> {
  const chart = chartOf();
  const compact = topLevel(chart);
  const values = [
    ['chart', 'Chart', chart],
    ['fullLayout', 'Layout', await layOut(chart)],
    ['compact', 'Chart', compact],
    ['compactLayout', 'Layout', await layOut(compact)],
  ] as const;
  return [
    '/** Written by `npm run chart` from the machine itself. Not to be changed by hand. */',
    "import type { Chart, Layout } from './model.ts';",
    ...values.map(([name, type, value]) => `\nexport const ${name}: ${type} = ${JSON.stringify(value)};`),
    '',
  ].join('\n');
}

export function withMermaid(readme: string): string {
  return readme.replace(/```mermaid\n[\s\S]*?\n```/, () => `\`\`\`mermaid\n${statechartMermaid()}\n\`\`\``);
}
