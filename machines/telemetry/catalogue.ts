/**
 * Every metric and every span of this package, as data: the instruments are made from it, and the tables in the README are
 * checked against it. Names of our own begin with `toolop.`; the others are OpenTelemetry's semantic conventions for MCP and
 * generative AI (open-telemetry/semantic-conventions-genai, v0.1.0, in development).
 */
export interface MetricDescription {
  readonly kind: 'counter' | 'histogram' | 'gauge';
  /** UCUM. */
  readonly unit: string;
  readonly attributes: readonly string[];
  readonly description: string;
  /** Upper bounds of the buckets of a histogram, in its unit. */
  readonly buckets?: readonly number[];
}

/** The conventions' buckets for MCP. */
const REQUEST_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;
/** Around the limits of G4 (60 s) and G5 (15 min). */
const OUTCOME_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 20, 30, 45, 60, 120, 300, 600, 900, 1_800, 3_600] as const;

const describe = <T extends Readonly<Record<string, MetricDescription>>>(metrics: T): T => metrics;

export const METRICS = describe({
  'toolop.operations.created': {
    kind: 'counter',
    unit: '{operation}',
    attributes: ['toolop.namespace', 'toolop.adapter'],
    description: 'Call nodes that became operations, each once (G2)',
  },
  'toolop.operations.ended': {
    kind: 'counter',
    unit: '{operation}',
    attributes: ['toolop.namespace', 'toolop.adapter', 'toolop.outcome'],
    description: 'Terminal receipts written (G1, G6)',
  },
  'toolop.operation.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['toolop.namespace', 'toolop.adapter', 'toolop.outcome'],
    buckets: OUTCOME_SECONDS,
    description: 'From creation to receipt',
  },
  'toolop.acceptances.refused': {
    kind: 'counter',
    unit: '{acceptance}',
    attributes: ['toolop.namespace', 'toolop.reason'],
    description:
      'Acceptances that the ledger refused because record and fact differ, or because there is a receipt already: more than 0 is a divergence (G1)',
  },
  'toolop.submissions': {
    kind: 'counter',
    unit: '{submission}',
    attributes: ['toolop.namespace', 'toolop.adapter', 'toolop.repeated'],
    description:
      'Calls handed to an adapter to be sent; `true`: a later attempt under the same key, after a proof of absence (G2)',
  },
  'toolop.server.requests': {
    kind: 'counter',
    unit: '{request}',
    attributes: ['toolop.namespace', 'toolop.adapter', 'toolop.server', 'server.address', 'server.port'],
    description: 'Places taken in the rate of a server: its requests per second, of this executor (G3)',
  },
  'toolop.server.polls': {
    kind: 'counter',
    unit: '{request}',
    attributes: ['toolop.namespace', 'toolop.adapter', 'toolop.server', 'server.address', 'server.port'],
    description: 'Status reads among them: the poll rate per server (G3)',
  },
  'toolop.server.rate': {
    kind: 'gauge',
    unit: '{request}/s',
    attributes: ['toolop.namespace'],
    description: 'The configured limit of requests per server, over all executors (G3)',
  },
  'toolop.server.wait': {
    kind: 'histogram',
    unit: 's',
    attributes: ['toolop.namespace', 'toolop.adapter', 'toolop.server', 'server.address', 'server.port'],
    buckets: REQUEST_SECONDS,
    description: 'How long a request waited for its place in that rate',
  },
  'toolop.cancel.confirmation': {
    kind: 'histogram',
    unit: 's',
    attributes: ['toolop.namespace', 'toolop.adapter', 'toolop.status'],
    buckets: OUTCOME_SECONDS,
    description: 'From a recorded cancel to terminal evidence, whichever it is (G4)',
  },
  'toolop.unknown.oldest': {
    kind: 'gauge',
    unit: 's',
    attributes: ['toolop.namespace', 'toolop.unknown'],
    description:
      'Age of the oldest operation whose outcome is unknown; `open`: being looked up, `parked`: waits for a human. 0: there is none (G5)',
  },
  'toolop.unknown.operations': {
    kind: 'gauge',
    unit: '{operation}',
    attributes: ['toolop.namespace', 'toolop.unknown'],
    description: 'How many there are',
  },
  'toolop.unknown.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['toolop.namespace', 'toolop.adapter', 'toolop.unknown', 'toolop.verdict'],
    buckets: OUTCOME_SECONDS,
    description: 'How long an outcome was unknown; the verdict is the state that it led to (G5)',
  },
  'toolop.operations.parked': {
    kind: 'counter',
    unit: '{operation}',
    attributes: ['toolop.namespace', 'toolop.adapter', 'toolop.reason'],
    description: 'Operations handed to a human (G5)',
  },
  'toolop.commits': {
    kind: 'counter',
    unit: '{commit}',
    attributes: ['toolop.namespace', 'toolop.event'],
    description: 'Steps committed, by the event that they took in',
  },
  'toolop.commits.lost': {
    kind: 'counter',
    unit: '{commit}',
    attributes: ['toolop.namespace', 'toolop.event'],
    description: 'Races lost: somebody else committed first, and the event was applied again to what is there now',
  },
  'toolop.facts.refused': {
    kind: 'counter',
    unit: '{refusal}',
    attributes: ['toolop.namespace', 'toolop.guard', 'toolop.event'],
    description:
      'Events that changed nothing, by each guard that said no: stale facts, and commands that come too late. `notListening`: the state ignores the event (G1)',
  },
  'toolop.outbox.lag': {
    kind: 'gauge',
    unit: 's',
    attributes: ['toolop.namespace'],
    description: 'Age of the oldest ready row that is not acknowledged, leased or not. 0: there is none (G6)',
  },
  'toolop.outbox.acknowledged': {
    kind: 'counter',
    unit: '{row}',
    attributes: ['toolop.outcome'],
    description: 'Ready rows consumed by `consumeReady` (G6)',
  },
  'toolop.operations.driven': {
    kind: 'gauge',
    unit: '{operation}',
    attributes: ['toolop.namespace'],
    description: 'Operations that this executor has in hand right now; all others are rows in the ledger',
  },
  'mcp.client.operation.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: [
      'mcp.method.name',
      'gen_ai.tool.name',
      'gen_ai.operation.name',
      'error.type',
      'rpc.response.status_code',
      'network.transport',
    ],
    buckets: REQUEST_SECONDS,
    description: 'One request to an MCP server, as its client sees it',
  },
});
export type MetricName = keyof typeof METRICS;

/** Spans of the steps of an operation, by what the step is; all are internal but `deliver`, which is a consumer's. */
export const SPANS = {
  'toolop.create': 'A call becomes an operation. Parent of all others; child of the span in which `submit` was called',
  'toolop.begin': 'The call gets its place in the rate, and is taken off the queue',
  'toolop.send': 'The call is sent',
  'toolop.requeue': 'A call that was never created goes back on the queue',
  'toolop.lookup': 'A lost submission is looked up by its key',
  'toolop.poll': 'The status is read',
  'toolop.listen': 'A channel is held open on which questions come',
  'toolop.hold': 'A question is open',
  'toolop.begin_answer': 'An answer is about to be sent',
  'toolop.answer': 'An answer is sent',
  'toolop.cancel': 'The cancel is sent',
  'toolop.fetch': 'The result is fetched and verified',
  'toolop.accept': 'Output guards, and the one acceptance',
  'toolop.command': 'Somebody cancels, answers or reconciles (`toolop.event` says what)',
  'toolop.deliver': 'A consumer handles the receipt and acknowledges it',
} as const;
export type SpanName = keyof typeof SPANS;

/** Attributes of our own, on spans and metrics. */
export const ATTRIBUTES = {
  'toolop.operation.id': 'Spans only. The id of the operation: a digest of its call node',
  'toolop.namespace': 'Namespace of the ledger; that of shadows ends with `/shadow`',
  'toolop.adapter': 'Protocol adapter, such as `mcp-2025-11-25`',
  'toolop.executor': 'Spans only. Which executor made the step',
  'toolop.server': 'Digest of the address of the server',
  'toolop.state': 'Spans only. State of the record at the beginning of the step; with each commit, the one it led to',
  'toolop.event': 'Event of the statechart, such as `poll.status`',
  'toolop.guard': 'Guard of the statechart that said no',
  'toolop.outcome': '`completed`, `failed`, `cancelled`, `not_submitted` or `given_up`',
  'toolop.status': "The protocol's own terminal word",
  'toolop.reason':
    'Why an operation is parked, or the field in which an acceptance differed (`duplicate`: a second one)',
  'toolop.repeated': 'Whether it was sent before',
  'toolop.unknown': '`open` or `parked`',
  'toolop.verdict': 'State that ended the uncertainty',
} as const;
