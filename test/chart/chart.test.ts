/** The picture of the statechart is the machine's own (issue 6, items 1 and 3; B5: all states of the brief are on it). */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { toolOperation } from '../../machines/index.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { chart, compact, fullLayout } from '../../visualizer/chart/chart.generated.ts';
import { generate } from '../../visualizer/chart/generate.ts';
import { chartOf } from '../../visualizer/chart/graph.ts';
import { isMain, MAIN_PATH } from '../../visualizer/chart/model.ts';
import { chartCss, chartSvg } from '../../visualizer/chart/svg.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
type Node = typeof toolOperation.root;
const withInside = (node: Node): Node[] => [
  node,
  ...Object.values(node.states).flatMap((each) => withInside(each as Node)),
];
const nodes = withInside(toolOperation.root);
const leaves = chart.states.filter(({ kind }) => kind !== 'compound').map(({ path }) => path);

describe('what is generated', () => {
  it('is up to date: run `npm run chart` if not', { timeout: 60_000 }, async () => {
    const old: string[] = [];
    for await (const { file, content } of generate(root)) {
      if (readFileSync(`${root}${file}`, 'utf8') !== content) old.push(file);
    }
    expect(old).toEqual([]);
  });
});

describe('the chart as data', () => {
  it('has each state of the machine, described, with what it owes', () => {
    expect(chart.states.map(({ path }) => path)).toEqual(nodes.slice(1).map(({ path }) => path.join('.')));
    expect(chart.states.filter(({ description }) => description === '')).toEqual([]);
    expect(chart.states.find(({ path }) => path === 'WORKING.polling')?.effect).toBe('poll');
    expect(leaves).toHaveLength(29);
  });

  it('has each transition of the machine, once', () => {
    const inMachine = nodes.flatMap((node) => [...node.transitions.values()].flat());
    const drawn = chart.edges.flatMap(({ transitions }) => transitions);
    expect(drawn).toHaveLength(inMachine.length);
    expect(new Set(drawn.map(({ event }) => event))).toEqual(new Set(inMachine.map(({ eventType }) => eventType)));
  });

  it('enters the state that the machine enters', () => {
    const asked = chart.edges.find(({ source, transitions }) => {
      return source === 'WORKING' && transitions.some(({ guard }) => guard === 'promptArrived');
    });
    expect(asked?.to).toBe('INPUT_REQUIRED.awaiting');
    expect(asked?.from).toEqual(['WORKING.polling', 'WORKING.listening']);
    expect(MAIN_PATH[0]).toBe(statePath({ value: { SUBMITTING: 'queued' } }));
  });

  it('leads along the main path, and leads there at the level of whole states, too', () => {
    expect(chart.edges.filter(isMain)).toHaveLength(MAIN_PATH.length - 1);
    expect(compact.edges.filter(isMain)).toHaveLength(4);
  });

  it('is drawn whole: no edge without a way, and no box outside the picture', () => {
    const drawn = chart.edges.filter(({ stays, source, to }) => !stays && source !== to);
    expect(drawn.filter((edge) => (fullLayout.edges[chart.edges.indexOf(edge)]?.length ?? 0) < 2)).toEqual([]);
    for (const { x, y, width, height } of Object.values(fullLayout.states)) {
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(fullLayout.width);
      expect(y + height).toBeLessThanOrEqual(fullLayout.height);
    }
  });
});

describe('chartSvg', () => {
  const groups = (svg: string) => [...svg.matchAll(/<g data-edge="" data-from="([^"]+)" data-to="([^"]+)"/g)];

  it('has a group for each state and for each step that can be taken', () => {
    const svg = chartSvg();
    for (const { path } of chart.states) expect(svg.split(`<g data-state="${path}"`)).toHaveLength(2);
    const pairs = new Set(
      groups(svg).flatMap(([, from = '', to = '']) => from.split(' ').map((each) => `${each} ${to}`)),
    );
    for (const edge of chartOf().edges) {
      for (const from of edge.stays ? [] : edge.from) expect(pairs).toContain(`${from} ${edge.to}`);
    }
    // A fact that changes only the context is a step, too.
    expect(pairs).toContain('WORKING.polling WORKING.polling');
  });

  it('needs nothing else, and gives its style to a page that wants it apart', () => {
    expect(chartSvg()).not.toMatch(/<(script|foreignObject|image|use)\b|href=|url\(|style="/);
    expect(chartSvg({ style: false })).not.toContain('<style');
    expect(chartCss).not.toMatch(/[<&]/);
  });

  it('lights where it is and marks the way there', () => {
    const walked = [
      ['SUBMITTING.sending', 'WORKING.polling'],
      ['WORKING.polling', 'WORKING.polling'],
      ['WORKING.polling', 'PARKED.watching'],
    ] as const;
    const svg = chartSvg({ lit: 'PARKED.watching', walked });
    expect(svg.match(/<g data-state="[^"]+" class="[^"]*\blit\b/g)).toHaveLength(2);
    const ways = [...svg.matchAll(/data-from="([^"]+)" data-to="([^"]+)" class="[^"]*\bwalked\b/g)].map(
      ([, from, to]) => `${from} > ${to}`,
    );
    expect(ways.sort()).toEqual([
      'SUBMITTING.sending > WORKING.polling',
      'WORKING.polling > PARKED.watching',
      'WORKING.polling > WORKING.polling',
      // What the parent names for all that is in it.
      'WORKING.polling WORKING.listening > PARKED.watching',
    ]);
    const top = chartSvg({ level: 'top', lit: 'PARKED.watching', walked });
    expect(top).toMatch(/<g data-state="PARKED" class="lit walked">/);
  });

  it('can be said, and reached by keyboard where a page asks for that', () => {
    expect(chartSvg({ title: 'a <b> & "c"' })).toContain('aria-label="a &lt;b&gt; &amp; &quot;c&quot;"');
    expect(chartSvg()).toMatch(/role="img"/);
    expect(chartSvg()).not.toContain('tabindex');
    expect(chartSvg({ focusable: true }).match(/tabindex="0"/g)).toHaveLength(chart.states.length);
  });
});
