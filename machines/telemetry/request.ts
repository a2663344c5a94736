/**
 * One request of an adapter to a server, inside the step that it belongs to: a client span with the names of OpenTelemetry's
 * conventions, and the trace context to pass on. No id of a task, no argument and no word of a server stands in it.
 */
import { type Attributes, context, createContextKey, type Span, SpanKind, trace } from '@opentelemetry/api';
import { instruments } from './meter.ts';
import { failed, tracer } from './span.ts';
import { type TraceContext, traceContextOf } from './trace-context.ts';

/** Set inside of a step. A request outside of any (a subscription for all tasks) is in no operation's trace. */
export const STEP = createContextKey('toolop step');

/** How a request ended: what of it may be told. */
export interface RequestEnd {
  /** As a metric may have it: few values. Absent: it was answered. */
  readonly errorType?: string;
  readonly attributes?: Attributes;
}

export interface TracedRequest {
  /** What the request carries; empty where nobody traces. */
  readonly carried: Partial<TraceContext>;
  end(end: RequestEnd): void;
}

/** Nobody traces, and nobody measures. */
export const UNTRACED: TracedRequest = { carried: {}, end: () => undefined };

/** `metric`: the histogram that takes its duration, where the conventions have one. */
export function requestSpan(
  name: string,
  attributes: () => Attributes,
  metric: 'mcp.client.operation.duration' | null,
): TracedRequest {
  const measured = metric === null ? null : instruments();
  const active = context.active();
  const traced = active.getValue(STEP) === undefined ? null : tracer();
  if (measured === null && traced === null) return UNTRACED;
  const said = attributes();
  const startedAt = performance.now();
  const span = traced?.startSpan(name, { kind: SpanKind.CLIENT, attributes: said }, active) ?? null;
  return {
    carried: span === null ? {} : carriedBy(span),
    end({ errorType, attributes: more = {} }) {
      if (metric !== null) {
        const error = errorType === undefined ? {} : { 'error.type': errorType };
        measured?.took(metric, performance.now() - startedAt, { ...metricPart({ ...said, ...more }), ...error });
      }
      if (span === null) return;
      span.setAttributes(more);
      if (errorType !== undefined) failed(span, errorType);
      span.end();
    },
  };
}

const carriedBy = (span: Span): Partial<TraceContext> => traceContextOf(span.spanContext()) ?? {};

/** A request id is another one each time, and no attribute of a metric. */
function metricPart({ 'jsonrpc.request.id': _, ...rest }: Attributes): Attributes {
  return rest;
}

/** Work that outlives the step it was begun in, and belongs to no operation. */
export const outsideOfSteps = <T>(work: () => T): T =>
  context.active().getValue(STEP) === undefined
    ? work()
    : context.with(trace.deleteSpan(context.active().deleteValue(STEP)), work);
