/**
 * W3C Trace Context as text: what is kept with an operation, and what is passed on to servers (in MCP's `_meta`, SEP-414; as
 * headers elsewhere). Baggage is not passed on: it is the caller's, and may be anything.
 */
import { createTraceState, isSpanContextValid, isValidTraceId, type SpanContext, TraceFlags } from '@opentelemetry/api';

export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

const FORM = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
/** What the specification asks everybody to pass on at least, characters. */
const MAX_STATE = 512;

export function traceContextOf(span: SpanContext): TraceContext | null {
  if (!isSpanContextValid(span)) return null;
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0');
  const state = span.traceState?.serialize() ?? '';
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(state === '' || state.length > MAX_STATE ? {} : { tracestate: state }),
  };
}

/** `null`: this is none. */
export function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext | null {
  const [, traceId = '', spanId = '', flags = ''] = FORM.exec(traceparent) ?? [];
  const span: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
  return isValidTraceId(traceId) && isSpanContextValid(span) ? span : null;
}
