/** The statechart as plain data: what is drawn, printed, and sent to a page that has no machine. */

export interface ChartState {
  /** As a record has it: `WORKING.polling`. */
  readonly path: string;
  readonly key: string;
  readonly parent: string | null;
  readonly kind: 'compound' | 'atomic' | 'final';
  readonly description: string;
  /** The request that the state owes the world. */
  readonly effect: string | null;
  /** Where its parent, or the machine, begins. */
  readonly initial: boolean;
}

export interface ChartTransition {
  readonly event: string;
  readonly guard: string | null;
  readonly actions: readonly string[];
}

/** All transitions from one state to another one, in the order in which they are tried. */
export interface ChartEdge {
  /** The state that names the transitions: a parent names them for all its sub-states. */
  readonly source: string;
  /** The states without sub-states in which they apply. */
  readonly from: readonly string[];
  /** The state without sub-states that is entered; the source itself for what changes only the context. */
  readonly to: string;
  readonly stays: boolean;
  readonly transitions: readonly ChartTransition[];
}

export interface Chart {
  readonly id: string;
  readonly description: string;
  readonly states: readonly ChartState[];
  readonly edges: readonly ChartEdge[];
}

export type Point = readonly [x: number, y: number];
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where everything lies. Edges are in the order of the chart's. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly states: Readonly<Record<string, Box>>;
  readonly edges: readonly (readonly Point[])[];
}

/** `WORKING` of `WORKING.polling`. */
export const topOf = (path: string): string => path.split('.')[0] as string;

/** What a newcomer should see first: an operation that goes well. */
export const MAIN_PATH: readonly string[] = [
  'SUBMITTING.queued',
  'SUBMITTING.sending',
  'WORKING.polling',
  'TERMINAL_OBSERVED.outcome',
  'FETCHING_RESULT.verified',
  'ACCEPTED',
];

/** Nearly every state leads there, and they lead nearly everywhere: their edges are shown when they are asked for. */
export const ASIDE: ReadonlySet<string> = new Set(['PARKED', 'CONCLUDING']);

export const isAside = ({ source, to }: ChartEdge): boolean => ASIDE.has(topOf(source)) || ASIDE.has(topOf(to));

/** On the way of an operation that goes well, also at the level of whole states. */
export function isMain(edge: ChartEdge): boolean {
  const steps = MAIN_PATH.slice(1).map((to, index) => [MAIN_PATH[index] as string, to] as const);
  return steps.some(([from, to]) => {
    const whole = !edge.to.includes('.') && edge.source === topOf(from) && edge.to === topOf(to);
    return whole || (edge.from.includes(from) && edge.to === to);
  });
}
