/**
 * The picture of the statechart, as one SVG that needs nothing else. Each state is a `<g data-state="WORKING.polling">`, each
 * edge a `<g data-edge data-from="…" data-to="…">`, where `data-from` names every state it applies in, one after the other:
 * `[data-edge][data-from~="WORKING.polling"][data-to="PARKED.watching"]`. What stays in its state is an edge to itself.
 * The classes `lit` (where it is) and `walked` (where it was) are put on either, here or by a page.
 */
import { chart, compact, compactLayout, fullLayout } from './chart.generated.ts';
import { loopsOf } from './loops.ts';
import {
  ASIDE,
  type Box,
  type Chart,
  type ChartEdge,
  type ChartState,
  isAside,
  isMain,
  type Layout,
  MAIN_PATH,
  type Point,
  topOf,
} from './model.ts';
import { chartStyle } from './style.ts';

export interface ChartSvgOptions {
  /** `top`: only the states that the brief names, without what is inside them. */
  readonly level?: 'full' | 'top';
  /** The state path that is lit. */
  readonly lit?: string;
  /** The steps that were taken, from one state path to the next. */
  readonly walked?: readonly (readonly [from: string, to: string])[];
  /** Without its own style, for a page that has `chartCss` in its style sheet. */
  readonly style?: boolean;
  /** Each state can be reached by keyboard. */
  readonly focusable?: boolean;
  /** The text that says what the picture is. */
  readonly title?: string;
}

/** The style of the picture, for a page whose content security policy allows none inside it. */
export const chartCss: string = chartStyle(chart.states.map(({ path }) => path));

export function chartSvg(options: ChartSvgOptions = {}): string {
  const top = options.level === 'top';
  const [drawn, layout] = top ? [compact, compactLayout] : [chart, fullLayout];
  const marks = marksOf(options, top);
  const { width, height } = layout;
  const title = options.title ?? 'Statechart of a tool operation';
  const role = options.focusable ? 'group' : 'img';
  const edges = [
    ...drawn.edges.map((edge, index) => edgeSvg(edge, layout.edges[index] ?? [], marks)),
    ...(top ? [] : loops(drawn, layout, marks)),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="toolop-chart" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="${role}" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title><desc>${escaped(drawn.description)}</desc>`,
    ...(options.style === false ? [] : [`<style>${chartCss}</style>`]),
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...drawn.states.map((state) => stateSvg(state, layout.states[state.path], marks, options.focusable === true)),
    // Those that matter lie above the others.
    ...edges.sort((one, other) => one.rank - other.rank).map(({ svg }) => svg),
    ...drawn.states.map((state) => names(state, layout.states[state.path], drawn)),
    '</svg>',
  ].join('\n');
}

interface Marks {
  readonly lit: string | null;
  readonly states: ReadonlySet<string>;
  readonly steps: ReadonlySet<string>;
}

function marksOf({ lit, walked = [] }: ChartSvgOptions, top: boolean): Marks {
  const at = top ? topOf : (path: string) => path;
  const steps = walked.map(([from, to]) => [at(from), at(to)] as const);
  return {
    lit: lit === undefined ? null : at(lit),
    states: new Set(steps.flat().flatMap((path) => [path, topOf(path)])),
    steps: new Set(steps.map((step) => step.join(' '))),
  };
}

const classOf = (...names: readonly (string | false)[]): string => {
  const given = names.filter(Boolean).join(' ');
  return given === '' ? '' : ` class="${given}"`;
};

function stateSvg(state: ChartState, box: Box | undefined, marks: Marks, focusable: boolean): string {
  if (!box) return '';
  const { path, key, kind, effect, description, initial, parent } = state;
  const { x, y, width, height } = box;
  const compound = kind === 'compound';
  const isLit = marks.lit === path || (compound && marks.lit !== null && topOf(marks.lit) === path);
  const onPath = MAIN_PATH.includes(path) || (!compound && MAIN_PATH.some((each) => topOf(each) === path));
  const names = classOf(onPath && 'on-path', isLit && 'lit', marks.states.has(path) && 'walked');
  const frame = `x="${x}" y="${y}" width="${width}" height="${height}"`;
  const about = `${path}: ${description}${effect ? ` (owes: ${effect})` : ''}`;
  const focus = focusable ? ` tabindex="0" role="img" aria-label="${escaped(about)}"` : '';
  return [
    `<g data-state="${path}"${names}${focus}><title>${escaped(about)}</title>`,
    `<rect class="${compound ? 'frame' : 'box'}" ${frame} rx="${kind === 'final' ? 15 : 6}"/>`,
    kind === 'final'
      ? `<rect class="box" x="${x + 3}" y="${y + 3}" width="${width - 6}" height="${height - 6}" rx="12"/>`
      : '',
    initial && (parent !== null || path.startsWith('SUBMITTING'))
      ? `<circle class="start" cx="${x}" cy="${y}" r="4"/>`
      : '',
    compound
      ? ''
      : `<text${parent === null ? ' class="name"' : ''} text-anchor="middle" x="${x + width / 2}" y="${y + height / 2 + 4}">${escaped(key)}</text>`,
    '</g>',
  ].join('');
}

/** Above the lines: what a frame is called, and how many lead to what is aside and away from it. */
function names({ key, path, kind, parent }: ChartState, box: Box | undefined, drawn: Chart): string {
  if (!box || parent !== null) return '';
  const { x, y, height } = box;
  const name = kind === 'compound' ? `<text class="name over" x="${x + 12}" y="${y + 22}">${escaped(key)}</text>` : '';
  if (!ASIDE.has(path)) return name;
  const others = (tops: readonly string[]) => new Set(tops.filter((top) => top !== path)).size;
  const into = others(drawn.edges.filter(({ to }) => topOf(to) === path).map(({ source }) => topOf(source)));
  const away = others(drawn.edges.filter(({ source }) => topOf(source) === path).map(({ to }) => topOf(to)));
  return `${name}<text class="quiet" x="${x}" y="${y + height + 14}">from ${into} states, to ${away}</text>`;
}

interface Drawn {
  readonly svg: string;
  readonly rank: number;
}

function edgeSvg(edge: ChartEdge, points: readonly Point[], marks: Marks): Drawn {
  if (points.length < 2) return { svg: '', rank: 0 };
  const walked = edge.from.some((from) => marks.steps.has(`${from} ${edge.to}`));
  const main = isMain(edge);
  const names = classOf(isAside(edge) && 'aside', main && 'main', walked && 'walked');
  return { svg: drawnEdge(edge, points, names), rank: walked ? 2 : main ? 1 : 0 };
}

function loops(drawn: Chart, layout: Layout, marks: Marks): readonly Drawn[] {
  return loopsOf(drawn).flatMap((edge) => {
    const box = layout.states[edge.to];
    if (!box) return [];
    const [x, y] = [box.x + box.width, box.y + box.height / 2];
    const points: readonly Point[] = [
      [x, y - 7],
      [x + 13, y - 7],
      [x + 13, y + 7],
      [x, y + 7],
    ];
    const walked = marks.steps.has(`${edge.to} ${edge.to}`);
    return { svg: drawnEdge(edge, points, classOf('loop', walked && 'walked')), rank: walked ? 2 : 0 };
  });
}

function drawnEdge(edge: ChartEdge, points: readonly Point[], names: string): string {
  const way = `M${points.map((point) => point.join(' ')).join('L')}`;
  return [
    `<g data-edge="" data-from="${edge.from.join(' ')}" data-to="${edge.to}"${names}>`,
    `<path class="near" d="${way}"/><path class="line" d="${way}"/>`,
    tip(points),
    label(edge, points),
    '</g>',
  ].join('');
}

/** Drawn by hand: a marker could not take the colour of its line. */
function tip(points: readonly Point[]): string {
  const [x, y] = points.at(-1) as Point;
  const [beforeX, beforeY] = points.at(-2) as Point;
  const turn = Math.round((Math.atan2(y - beforeY, x - beforeX) * 180) / Math.PI);
  return `<path class="tip" transform="translate(${x} ${y})rotate(${turn})" d="M0 0L-8 -4L-8 4Z"/>`;
}

const LINE = 14;
const MOST_LINES = 8;

function label(edge: ChartEdge, points: readonly Point[]): string {
  const said = edge.transitions.map(({ event, guard }) => (guard ? `${event} [${guard}]` : event));
  const lines =
    said.length > MOST_LINES ? [...said.slice(0, MOST_LINES - 1), `… ${said.length - MOST_LINES + 1} more`] : said;
  const width = Math.max(...lines.map(({ length }) => length)) * 6.7 + 12;
  const [x, y] = halfWay(points);
  const left = Math.round(Math.max(2, x - width / 2));
  const top = Math.round(y - (lines.length * LINE) / 2);
  const rows = lines.map(
    (line, index) => `<text x="${left + 6}" y="${top + 12 + index * LINE}">${escaped(line)}</text>`,
  );
  return `<g class="label"><rect x="${left}" y="${top}" width="${Math.ceil(width)}" height="${lines.length * LINE + 5}" rx="4"/>${rows.join('')}</g>`;
}

/** The middle of the longest stretch. */
function halfWay(points: readonly Point[]): Point {
  const stretches = points.slice(1).map((point, index) => [points[index] as Point, point] as const);
  const length = ([[x, y], [toX, toY]]: readonly [Point, Point]) => Math.hypot(toX - x, toY - y);
  const [[x, y], [toX, toY]] = stretches.reduce((longest, each) => (length(each) > length(longest) ? each : longest));
  return [(x + toX) / 2, (y + toY) / 2];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
