/** One witness per state: every leaf can be reached, and a terminal state has a receipt for its output (B12, G6). */

import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { TerminalStatus, type ToolOperationContext } from '../../machines/tool-operation/context.ts';
import type { OperationEvent } from '../../machines/tool-operation/events.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { terminalReceipt } from '../../machines/tool-operation/receipt.ts';
import { type OperationSnapshot, statePath } from '../../machines/tool-operation/snapshot.ts';
import { leaves, pathOf } from './chart.ts';
import { type Builder, contextOf, RESULT, START, say } from './scenario.ts';

const FRESH: readonly Builder[] = [
  ...[say.begin(), say.requeue(), say.notSent(), say.rejected(), say.connectionLost(), say.senderLost()],
  ...[say.acknowledged(), say.outcome()],
  ...[say.found(), say.neverCreated(0), say.neverCreated(9), say.noLookup(), say.lookupFailed()],
  ...[say.receipt({ status: 'completed' }, RESULT), say.receipt({ status: 'completed' }, null)],
  ...(['working', 'input_required', 'completed', 'failed', 'cancelled'] as const).map((status) => say.status(status)),
  ...[
    say.pollFailed(),
    say.notFound(),
    say.fetched(),

    say.fetchFailed(),
    say.resultNotFound(),
  ],
  ...[
    say.question(),
    say.asked(),
    say.channelClosed(),
    say.reply(1),
    say.sendInput(),
    say.delivered(),
    say.notDelivered(),
  ],
  ...[say.deadlinePassed(), say.cancel(), say.confirmed(), say.heard(), say.cancelRefused(), say.cancelUnanswered()],
  ...[
    say.gone(),
    say.attach(),
    say.acceptByHand('cancelled', null),
    say.declareNeverCreated(),
    say.giveUp(),
    say.accept(),
  ],
];

/** The record's own time, and one after every budget. */
function events({ context }: { context: ToolOperationContext }): OperationEvent[] {
  const now = Math.max(context.updatedAt, START) + 1;
  return [now, now + 10_000_000].flatMap((at) =>
    FRESH.map((build) => build({ context, now: at, remembered: new Map() })),
  );
}

/** Without counters and times there are finitely many records. */
function abstractKey(snapshot: { value: unknown; context: ToolOperationContext }): string {
  const { context } = snapshot;
  return JSON.stringify([
    snapshot.value,
    context.taskId !== null,
    context.cancel !== null,
    context.terminal?.status ?? null,
    context.result !== null,
    context.closedThroughAttempt >= context.sentThroughAttempt,
  ]);
}

describe('the graph of the chart', () => {
  const paths = getShortestPaths(toolOperation, {
    input: contextOf(),
    events: (state) => events(state as OperationSnapshot) as never,
    serializeState: (state) => abstractKey(state as OperationSnapshot),
    serializeEvent: (event) => JSON.stringify(event),
    stopWhen: (state) => state.status !== 'active',
    limit: 200_000,
  });
  const reached = new Map(
    paths.map(({ state }) => [statePath(state as OperationSnapshot), state as OperationSnapshot]),
  );

  it('reaches every leaf state', () => {
    expect(leaves.map(pathOf).filter((leaf) => !reached.has(leaf))).toEqual([]);
  });

  it('B12, G6: the output of every final state is the receipt of its record', () => {
    const finals = paths.map(({ state }) => state as OperationSnapshot).filter(({ status }) => status === 'done');
    expect(new Set(finals.map(statePath)).size).toBe(4);
    for (const snapshot of finals) {
      const receipt = snapshot.output;
      expect(receipt).toEqual(terminalReceipt(snapshot.context));
      const advances = receipt?.outcome === 'completed' || receipt?.outcome === 'failed';
      expect([statePath(snapshot), advances]).toEqual([statePath(snapshot), statePath(snapshot) === 'ACCEPTED']);
      expect([receipt?.outcome, receipt?.resultDigest !== null]).toEqual([receipt?.outcome, advances]);
      expect(receipt?.status === null || TerminalStatus.safeParse(receipt?.status).success).toBe(true);
    }
  });

  it('a live actor takes one of these paths to the same receipt', () => {
    const path = paths.find(({ state }) => statePath(state as OperationSnapshot) === 'ACCEPTED');
    if (!path) throw new Error('ACCEPTED is not reached');
    const actor = createActor(toolOperation, { input: contextOf() }).start();
    for (const { event } of path.steps) if (!event.type.startsWith('xstate.')) actor.send(event);
    expect(actor.getSnapshot().output).toEqual((path.state as OperationSnapshot).output);
  });
});
