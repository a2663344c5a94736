/**
 * How the picture looks. A page may set `--chart-…`; alone, it follows the light or dark theme of who looks at it.
 * What is aside, loops and words stay out of sight until a state or an edge is looked at, walked or lit.
 */
const LIGHT = {
  paper: '#ffffff',
  frame: '#f6f8fa',
  box: '#ffffff',
  ink: '#1f2328',
  quiet: '#59636e',
  line: '#a9b4c0',
  main: '#3a6ea5',
  walked: '#8250df',
  lit: '#1a7f37',
  'lit-box': '#dafbe1',
};
const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  paper: '#0d1117',
  frame: '#151b23',
  box: '#0d1117',
  ink: '#e6edf3',
  quiet: '#9198a1',
  line: '#4a535e',
  main: '#6cb0f5',
  walked: '#bc8cff',
  lit: '#4ac26b',
  'lit-box': '#12361f',
};

const variables = (colours: Readonly<Record<string, string>>): string =>
  Object.entries(colours)
    .map(([name, colour]) => `--c-${name}:var(--chart-${name},${colour})`)
    .join(';');

const RULES = `
.toolop-chart{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.toolop-chart .paper{fill:var(--c-paper)}
.toolop-chart text{fill:var(--c-ink)}
.toolop-chart .box{fill:var(--c-box);stroke:var(--c-quiet)}
.toolop-chart .frame{fill:var(--c-frame);stroke:var(--c-line)}
.toolop-chart .name{font-weight:600}
.toolop-chart .over{paint-order:stroke;stroke:var(--c-frame);stroke-width:4px;pointer-events:none}
.toolop-chart .quiet{fill:var(--c-quiet);font-size:10px}
.toolop-chart .line{fill:none;stroke:var(--c-line);stroke-width:1.2}
.toolop-chart .near{fill:none;stroke:transparent;stroke-width:9;pointer-events:stroke}
.toolop-chart .tip{fill:var(--c-line)}
.toolop-chart .main>.line{stroke:var(--c-main);stroke-width:2.6}
.toolop-chart .main>.tip{fill:var(--c-main)}
.toolop-chart .on-path>.box{stroke:var(--c-main);stroke-width:2}
.toolop-chart .start{fill:var(--c-main)}
.toolop-chart .aside>.line,.toolop-chart .aside>.tip,.toolop-chart .loop>.line,.toolop-chart .loop>.tip{visibility:hidden}
.toolop-chart .aside>.near,.toolop-chart .loop>.near{pointer-events:none}
.toolop-chart .label{visibility:hidden;pointer-events:none}
.toolop-chart .label rect{fill:var(--c-paper);stroke:var(--c-quiet)}
.toolop-chart .label text{font-size:11px}
.toolop-chart [data-edge]:hover>.line{stroke:var(--c-ink);stroke-width:2.6}
.toolop-chart [data-edge]:hover>.tip{fill:var(--c-ink)}
.toolop-chart [data-edge]:hover>.label,.toolop-chart .lit>.label{visibility:visible}
.toolop-chart .walked>.line,.toolop-chart .lit>.line{visibility:visible;stroke:var(--c-walked);stroke-width:2.6}
.toolop-chart .walked>.tip,.toolop-chart .lit>.tip{visibility:visible;fill:var(--c-walked)}
.toolop-chart .walked>.near{pointer-events:stroke}
.toolop-chart .walked>.box,.toolop-chart .walked>.frame{stroke:var(--c-walked);stroke-width:2}
.toolop-chart .lit>.box{fill:var(--c-lit-box);stroke:var(--c-lit);stroke-width:3}
.toolop-chart .lit>.frame{stroke:var(--c-lit);stroke-width:2.5}
.toolop-chart [data-state]:focus{outline:none}
.toolop-chart [data-state]:focus-visible>.box,.toolop-chart [data-state]:focus-visible>.frame{stroke:var(--c-ink);stroke-width:3}
@media (forced-colors:active){.toolop-chart .lit>.box{stroke:Highlight}.toolop-chart .line{stroke:CanvasText}}
`;

/** Looked at (by pointer or keyboard), a state shows where it leads. */
const looked = (path: string): string =>
  `.toolop-chart:has([data-state="${path}"]:is(:hover,:focus-visible)) [data-from~="${path}"]`;

export function chartStyle(paths: readonly string[]): string {
  const all = (inside: string) => paths.map((path) => `${looked(path)}>${inside}`).join(',');
  return [
    `.toolop-chart{${variables(LIGHT)}}`,
    `@media (prefers-color-scheme:dark){.toolop-chart{${variables(DARK)}}}`,
    RULES.trim(),
    `${all('.line')}{visibility:visible;stroke:var(--c-ink)}`,
    `${all('.tip')}{visibility:visible;fill:var(--c-ink)}`,
  ].join('\n');
}
