/**
 * Where everything lies, worked out once by ELK when the package is built: what is published carries no layout engine.
 * What is aside (parked, concluding) has a place, but no say in it: its many edges would tear the rest apart.
 */
import ElkConstructor, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import { stacked } from './aside.ts';
import { direct, inward } from './direct.ts';
import { sizeOf } from './measure.ts';
import {
  ASIDE,
  type Box,
  type Chart,
  type ChartEdge,
  type ChartState,
  isMain,
  type Layout,
  type Point,
  topOf,
} from './model.ts';

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.spacing.nodeNodeBetweenLayers': '34',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '9',
  'elk.spacing.nodeNode': '30',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '9',
  'org.eclipse.elk.json.edgeCoords': 'ROOT',
  'org.eclipse.elk.json.shapeCoords': 'ROOT',
  'elk.padding': '[top=16,left=16,bottom=16,right=16]',
};
/** A name stands above what is inside. */
const PADDING = '[top=38,left=14,bottom=14,right=14]';
const GAP = 28;

const isDrawn = ({ stays, source, to }: ChartEdge): boolean => !stays && source !== to;
/** From a frame to a state inside it. */
const isInward = ({ source, to }: ChartEdge): boolean => to.startsWith(`${source}.`);

export async function layOut(chart: Chart): Promise<Layout> {
  const asideToo = endsAside(chart);
  const tops = chart.states.filter(({ parent }) => parent === null);
  const main = await placed(
    chart,
    tops.filter(({ path }) => !asideToo.has(path)),
  );
  // Beside the middle of the rest, where most come from.
  const above = Math.round(main.height / 4);
  const aside = stacked(
    chart,
    tops.filter(({ path }) => asideToo.has(path)),
    main.width + GAP,
    above,
  );
  const states = { ...main.states, ...aside.states };
  return {
    width: main.width + 2 * GAP + aside.width,
    height: Math.max(main.height, aside.height),
    states,
    edges: chart.edges.map((edge, index) => main.routes.get(String(index)) ?? route(states, edge)),
  };
}

/** What is aside, and the ends that nothing else leads to. */
function endsAside({ states, edges }: Chart): ReadonlySet<string> {
  const ends = states.filter(({ path, kind }) => {
    const into = edges.filter(({ to }) => to === path);
    return kind === 'final' && into.every(({ source }) => ASIDE.has(topOf(source)));
  });
  return new Set([...ASIDE, ...ends.map(({ path }) => path)]);
}

function route(states: Readonly<Record<string, Box>>, edge: ChartEdge): readonly Point[] {
  const [from, to] = [states[edge.source], states[edge.to]];
  if (!from || !to || !isDrawn(edge)) return [];
  return isInward(edge) ? inward(from, to) : direct(from, to);
}

interface Placed {
  readonly width: number;
  readonly height: number;
  readonly states: Readonly<Record<string, Box>>;
  readonly routes: ReadonlyMap<string, readonly Point[]>;
}

async function placed(chart: Chart, tops: readonly ChartState[]): Promise<Placed> {
  const inside = new Set(tops.map(({ path }) => path));
  const order = new Map(chart.states.map(({ path }, index) => [path, index]));
  const isBack = ({ source, to }: ChartEdge) => (order.get(source) ?? 0) > (order.get(to) ?? 0);
  const taken = chart.edges.flatMap((edge, index) =>
    isDrawn(edge) && !isInward(edge) && inside.has(topOf(edge.source)) && inside.has(topOf(edge.to))
      ? [{ edge, id: String(index), back: isBack(edge) }]
      : [],
  );
  const edges = taken.map(({ edge, id, back }): ElkExtendedEdge => {
    const weight = isMain(edge) ? '20' : '1';
    const layoutOptions = { 'elk.layered.priority.straightness': weight, 'elk.layered.priority.shortness': weight };
    // An edge that goes back is laid as if it came down, so that the order of the machine is the order of the picture.
    const [first, second] = back ? [edge.to, edge.source] : [edge.source, edge.to];
    return { id, sources: [first], targets: [second], layoutOptions };
  });
  const turned = new Set(taken.filter(({ back }) => back).map(({ id }) => id));
  const elk = new ElkConstructor.default();
  const laid: ElkNode = await elk.layout({
    id: 'root',
    layoutOptions: OPTIONS,
    children: tops.map((state) => nodeOf(chart, state)),
    edges,
  });
  return {
    width: Math.ceil(laid.width ?? 0),
    height: Math.ceil(laid.height ?? 0),
    states: Object.fromEntries((laid.children ?? []).flatMap(boxesOf)),
    routes: new Map(
      (laid.edges ?? []).map((edge) => [edge.id, turned.has(edge.id) ? pointsOf(edge).toReversed() : pointsOf(edge)]),
    ),
  };
}

function nodeOf(chart: Chart, state: ChartState): ElkNode {
  const inside = chart.states.filter(({ parent }) => parent === state.path);
  if (inside.length === 0) return { id: state.path, ...sizeOf(state) };
  return {
    id: state.path,
    layoutOptions: {
      'elk.padding': PADDING,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${sizeOf(state).width}, 60)`,
    },
    children: inside.map((each) => nodeOf(chart, each)),
  };
}

function boxesOf(node: ElkNode): readonly (readonly [string, Box])[] {
  const { id, x = 0, y = 0, width = 0, height = 0 } = node;
  const [left, top, right, bottom] = [x, y, x + width, y + height].map(Math.round) as [number, number, number, number];
  return [
    [id, { x: left, y: top, width: right - left, height: bottom - top }],
    ...(node.children ?? []).flatMap(boxesOf),
  ];
}

const pointsOf = (edge: ElkExtendedEdge): readonly Point[] =>
  (edge.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) =>
    [startPoint, ...bendPoints, endPoint].map(({ x, y }): Point => [Math.round(x), Math.round(y)]),
  );
