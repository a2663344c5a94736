/** What is counted and timed, from the steps themselves. Where nobody measures, each of these is one look. */
import type { Attributes } from '@opentelemetry/api';
import { type Instruments, instruments } from '../../telemetry/meter.ts';
import type { ToolOperationContext } from '../../tool-operation/context.ts';
import type { OperationEvent } from '../../tool-operation/events.ts';
import type { Refusal } from '../../tool-operation/refusal.ts';
import { stateName, statePath } from '../../tool-operation/snapshot.ts';
import { uncertaintyOf } from '../../tool-operation/uncertainty.ts';
import type { Opened } from '../store.ts';
import { currentStep } from './steps.ts';

type Record = ToolOperationContext;

const ofAdapter = ({ namespace, protocol }: Record): Attributes => ({
  'toolop.namespace': namespace,
  'toolop.adapter': protocol,
});

export function measureCreated(record: Record): void {
  instruments()?.count('toolop.operations.created', ofAdapter(record));
}

/** One step was committed: everything that can be told from the record before and after it. */
export function measureCommit(before: Opened, after: Opened, event: OperationEvent): void {
  const step = currentStep();
  step?.addEvent('commit', { 'toolop.event': event.type, 'toolop.state': statePath(after.snapshot) });
  const meter = instruments();
  if (meter === null) return;
  const [was, is] = [before.snapshot.context, after.snapshot.context];
  const base = ofAdapter(is);
  meter.count('toolop.commits', { 'toolop.namespace': is.namespace, 'toolop.event': event.type });
  if (event.type === 'submit.begin' && is.sender !== was.sender) {
    meter.count('toolop.submissions', { ...base, 'toolop.repeated': is.attempt > 1 });
  }
  if (is.cancel !== null && was.terminal === null && is.terminal !== null) {
    const ms = is.terminal.observedAt - is.cancel.requestedAt;
    meter.took('toolop.cancel.confirmation', ms, { ...base, 'toolop.status': is.terminal.status });
  }
  if (was.parked === null && is.parked !== null) {
    meter.count('toolop.operations.parked', { ...base, 'toolop.reason': is.parked.reason });
  }
  measureVerdict(meter, before, after, event.at);
  const receipt = after.snapshot.output;
  if (receipt) {
    const ended = { ...base, 'toolop.outcome': receipt.outcome };
    meter.count('toolop.operations.ended', ended);
    meter.took('toolop.operation.duration', event.at - is.createdAt, ended);
  }
}

/** An outcome that was unknown is known by now, or somebody else's to find out (G5). */
function measureVerdict(meter: Instruments, before: Opened, after: Opened, at: number): void {
  const unknown = uncertaintyOf(statePath(before.snapshot));
  if (unknown === null || uncertaintyOf(statePath(after.snapshot)) === unknown) return;
  const since = unknownSince(before);
  if (since === null) return;
  meter.took('toolop.unknown.duration', at - since, {
    ...ofAdapter(after.snapshot.context),
    'toolop.unknown': unknown,
    'toolop.verdict': stateName(after.snapshot),
  });
}

/** When the record became what it is; the deadline of a look-up counts from there. */
function unknownSince({ snapshot }: Opened): number | null {
  const { context } = snapshot;
  switch (stateName(snapshot)) {
    case 'PARKED':
      return context.parked?.at ?? null;
    case 'CLASSIFYING_NOT_FOUND':
      return context.missing?.at ?? null;
    default:
      return context.stepDeadline === null ? null : context.stepDeadline - context.policy.lookupBudgetMs;
  }
}

export function measureLostRace({ namespace }: Record, event: OperationEvent): void {
  currentStep()?.addEvent('race lost', { 'toolop.event': event.type });
  instruments()?.count('toolop.commits.lost', { 'toolop.namespace': namespace, 'toolop.event': event.type });
}

/** The ledger refused an acceptance for good: record and fact differ, or there is a receipt already (G1). */
export function measureRefusedAcceptance({ namespace }: Record, reason: string): void {
  instruments()?.count('toolop.acceptances.refused', { 'toolop.namespace': namespace, 'toolop.reason': reason });
}

/** In the place of a guard: the state ignores the event. */
export const NOT_LISTENING = 'notListening';
/** What a refused event is counted under: the guards that said no, or that nobody listens. */
export const countedUnder = ({ guards }: Refusal): readonly string[] => (guards.length > 0 ? guards : [NOT_LISTENING]);

export function measureRefusal({ namespace }: Record, refusal: Refusal): void {
  const step = currentStep();
  const meter = instruments();
  if (step === null && meter === null) return;
  for (const guard of countedUnder(refusal)) {
    const attributes = { 'toolop.guard': guard, 'toolop.event': refusal.event };
    step?.addEvent('refused', attributes);
    meter?.count('toolop.facts.refused', { 'toolop.namespace': namespace, ...attributes });
  }
}

/** A request to a server got its place, after so long. */
export function measurePlace(record: Record, waitedMs: number): void {
  const meter = instruments();
  if (meter === null) return;
  const server = serverOf(record);
  meter.count('toolop.server.requests', server);
  meter.took('toolop.server.wait', waitedMs, server);
}

export function measurePoll(record: Record): void {
  instruments()?.count('toolop.server.polls', serverOf(record));
}

/** Host and port at most: a path or a query may be a credential. */
function serverOf(record: Record): Attributes {
  const { id, url } = record.endpoint;
  const server = { ...ofAdapter(record), 'toolop.server': id };
  if (url === null) return server;
  const { hostname, port, protocol } = new URL(url);
  return {
    ...server,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };
}

export function measureDelivery(outcome: string): void {
  instruments()?.count('toolop.outbox.acknowledged', { 'toolop.outcome': outcome });
}
