/** Spans, where somebody registered an SDK. Without one: one look, and the work as it is. */
import {
  type Attributes,
  type Context,
  context,
  type Link,
  ProxyTracerProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { SCOPE } from './meter.ts';

/** `null`: nobody traces. */
export function tracer(): Tracer | null {
  const provider = trace.getTracerProvider();
  if (provider instanceof ProxyTracerProvider) return provider.getDelegateTracer(SCOPE) ?? null;
  return provider.getTracer(SCOPE);
}

export interface SpanAsk {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly attributes: Attributes;
  readonly links?: Link[];
  /** Default: the active one. */
  readonly parent?: Context;
}

/** Does a piece of work inside a span. What it throws is named in the span and never quoted: it may hold anything. */
export async function inSpan<T>(
  tracer: Tracer,
  { name, kind = SpanKind.INTERNAL, attributes, links = [], parent = context.active() }: SpanAsk,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, { kind, attributes, links }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    failed(span, errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

export function failed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

export const errorType = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
