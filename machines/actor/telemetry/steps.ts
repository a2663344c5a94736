/** The steps of an operation as spans of its one trace. Where nobody traces, each of these is one look and the work itself. */
import { type Attributes, context, type Link, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { OperationLedger } from '../../operation-ledger.ts';
import type { SpanName } from '../../telemetry/catalogue.ts';
import { STEP } from '../../telemetry/request.ts';
import { inSpan, tracer } from '../../telemetry/span.ts';
import type { ToolOperationContext } from '../../tool-operation/context.ts';
import type { Effect } from '../../tool-operation/machine.ts';
import { statePath } from '../../tool-operation/snapshot.ts';
import type { Opened } from '../store.ts';
import { parentOf } from './kept-trace.ts';

const NAMES: Readonly<Record<Effect, SpanName>> = {
  beginSubmit: 'toolop.begin',
  submit: 'toolop.send',
  requeue: 'toolop.requeue',
  lookup: 'toolop.lookup',
  poll: 'toolop.poll',
  listen: 'toolop.listen',
  holdInput: 'toolop.hold',
  sendInput: 'toolop.begin_answer',
  deliverInput: 'toolop.answer',
  sendCancel: 'toolop.cancel',
  fetchResult: 'toolop.fetch',
  acceptTerminal: 'toolop.accept',
};

interface Actor {
  readonly ledger: OperationLedger;
  readonly executorId: string;
}

/** What the state of an operation owes, performed and committed. */
export async function inStep<T>(env: Actor, opened: Opened, effect: Effect, work: () => Promise<T>): Promise<T> {
  if (tracer() === null) return work();
  const attributes = { ...ofRecord(opened.snapshot.context), 'toolop.state': statePath(opened.snapshot) };
  return inTrace(env, opened.record.operationId, NAMES[effect], attributes, work);
}

/** A call becomes an operation: the parent of all that follows, in the trace of its caller. */
export async function inCreation<T>(
  { executorId }: Actor,
  operationId: string,
  adapter: string,
  tool: string,
  work: () => Promise<T>,
): Promise<T> {
  const active = tracer();
  if (active === null) return work();
  const attributes = {
    ...ofOperation(operationId, executorId),
    'toolop.adapter': adapter,
    'gen_ai.tool.name': tool,
  } satisfies Attributes;
  const parent = context.active().setValue(STEP, true);
  return inSpan(active, { name: 'toolop.create', attributes, parent }, work);
}

/** A command, in the trace of its operation, and with a link to whoever gave it. */
export async function inCommand<T>(env: Actor, operationId: string, event: string, work: () => Promise<T>): Promise<T> {
  if (tracer() === null) return work();
  return inTrace(env, operationId, 'toolop.command', { 'toolop.event': event }, work, { linked: true });
}

/** A receipt reaches its consumer. */
export async function inDelivery<T>(
  ledger: OperationLedger,
  consumer: string,
  operationId: string,
  work: () => Promise<T>,
): Promise<T> {
  if (tracer() === null) return work();
  const kind = SpanKind.CONSUMER;
  return inTrace({ ledger, executorId: consumer }, operationId, 'toolop.deliver', {}, work, { kind });
}

async function inTrace<T>(
  { ledger, executorId }: Actor,
  operationId: string,
  name: SpanName,
  attributes: Attributes,
  work: () => Promise<T>,
  { linked = false, kind = SpanKind.INTERNAL } = {},
): Promise<T> {
  const active = tracer();
  if (active === null) return work();
  const caller = linked ? trace.getSpanContext(context.active()) : undefined;
  const links: Link[] = caller === undefined ? [] : [{ context: caller }];
  const parent = (await parentOf(ledger, operationId)).setValue(STEP, true);
  const said = { ...ofOperation(operationId, executorId), ...attributes };
  return inSpan(active, { name, kind, attributes: said, links, parent }, work);
}

const ofOperation = (operationId: string, executorId: string): Attributes => ({
  'toolop.operation.id': operationId,
  'toolop.executor': executorId,
});

const ofRecord = (record: ToolOperationContext): Attributes => ({
  'toolop.namespace': record.namespace,
  'toolop.adapter': record.protocol,
  'gen_ai.tool.name': record.tool.name,
});

/** The span of the step in which code runs, if it records. */
export function currentStep(): Span | null {
  const active = context.active();
  if (active.getValue(STEP) === undefined) return null;
  const span = trace.getSpan(active);
  return span?.isRecording() ? span : null;
}
