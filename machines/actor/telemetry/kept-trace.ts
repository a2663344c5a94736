/**
 * The trace of an operation, kept beside its record from the step that creates it: whoever makes a later step, in whichever
 * process, makes it in the same trace. It stands among the payloads and not in the record: no digest, no identity, no
 * compare-and-set and no reader of records knows it, and it goes when the record is purged.
 */
import { type Context, context, ROOT_CONTEXT, type SpanContext, TraceFlags, trace } from '@opentelemetry/api';
import { z } from 'zod';
import { sha256 } from '../../digest.ts';
import type { OperationLedger, PayloadWrite } from '../../operation-ledger.ts';
import { spanContextOf, traceContextOf } from '../../telemetry/trace-context.ts';

/** The name under which it stands among the payloads, which are otherwise named by digest. */
const KEPT_AS = 'trace';
/** Traces remembered per ledger, so that a poll does not read what the one before it read. */
const REMEMBERED = 2_000;

const Kept = z.object({ traceparent: z.string().max(64), tracestate: z.string().max(512).optional() });

const remembered = new WeakMap<OperationLedger, Map<string, SpanContext>>();

/** What the creation of an operation stores: the trace it happens in. Empty where nobody traces. */
export function traceToKeep(): readonly PayloadWrite[] {
  const active = trace.getSpanContext(context.active());
  const kept = active === undefined ? null : traceContextOf(active);
  return kept === null ? [] : [{ digest: KEPT_AS, text: JSON.stringify(kept) }];
}

/** The parent of a step. A ledger that is away now is no reason not to make it. */
export async function parentOf(ledger: OperationLedger, operationId: string): Promise<Context> {
  const known = remembered.get(ledger) ?? new Map<string, SpanContext>();
  remembered.set(ledger, known);
  let parent = known.get(operationId);
  if (parent === undefined) {
    const text = await ledger.readPayload(operationId, KEPT_AS).catch(() => undefined);
    parent = spanContextIn(text ?? null) ?? derived(operationId);
    const oldest = known.size >= REMEMBERED ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    if (text !== undefined) known.set(operationId, parent);
  }
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}

function spanContextIn(text: string | null): SpanContext | null {
  if (text === null) return null;
  try {
    return spanContextOf(Kept.parse(JSON.parse(text)) as Parameters<typeof spanContextOf>[0]);
  } catch {
    return null;
  }
}

/** An operation whose creator did not trace: all who do agree on this one, without a word between them. */
function derived(operationId: string): SpanContext {
  const digest = sha256(`trace:${operationId}`);
  return {
    traceId: digest.slice(0, 32),
    spanId: digest.slice(32, 48),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  };
}
