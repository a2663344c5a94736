/** B3: a record is written and read back as it was, and one that this version cannot read is refused and left alone. */
import { describe, expect, it } from 'vitest';
import { LedgerIncompatible } from '../../machines/operation-ledger.ts';
import { MACHINE_VERSION, READER_VERSION } from '../../machines/tool-operation/context.ts';
import { OPERATION_EVENT_TYPES, type OperationEvent } from '../../machines/tool-operation/events.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import {
  applyEvent,
  newOperation,
  owedEffect,
  readSnapshot,
  statePath,
  writeSnapshot,
} from '../../machines/tool-operation/snapshot.ts';
import { leaves, pathOf } from './chart.ts';
import { SCENARIOS } from './race-scenarios.ts';
import { contextOf, into, play, START } from './scenario.ts';

const starts = Object.values(into).map((steps) => play({ title: '', steps }).snapshot);
const running = starts.filter((snapshot) => snapshot.status === 'active');
const ended = starts.filter((snapshot) => snapshot.status === 'done');
const record = () => JSON.parse(writeSnapshot(newOperation(contextOf())));
const reading = (value: unknown) => () =>
  readSnapshot('op-1', typeof value === 'string' ? value : JSON.stringify(value));

describe('round trip', () => {
  it('there is an example of every leaf state', () => {
    expect([...new Set(starts.map(statePath))].sort()).toEqual(leaves.map(pathOf).sort());
  });

  it.each(starts.map((snapshot) => [statePath(snapshot), snapshot] as const))('%s', (_, snapshot) => {
    const back = readSnapshot('op-1', writeSnapshot(snapshot));
    expect(back.value).toEqual(snapshot.value);
    expect(back.context).toEqual(snapshot.context);
    expect(back.status).toBe(snapshot.status);
    expect(owedEffect(back)).toBe(owedEffect(snapshot));
    expect(writeSnapshot(back)).toBe(writeSnapshot(snapshot));
  });

  it('the context of every step of every scenario is plain JSON: no undefined, no Date, no NaN', () => {
    for (const scenario of SCENARIOS) {
      for (const { context } of play(scenario, undefined, false).snapshots) {
        expect(JSON.parse(JSON.stringify(context))).toStrictEqual(context);
      }
    }
  });

  it('a record of machine 1 has no candidate, and is read as one without', () => {
    const { candidate: _, ...earlier } = contextOf();
    const back = readSnapshot('op-1', JSON.stringify({ ...record(), machineVersion: 1, context: earlier }));
    expect(back.context).toEqual({ ...earlier, candidate: null });
  });

  it('a restored record goes on as if it had never been written', () => {
    const event: OperationEvent = { type: 'cancel.request', at: START + 99, random: 0, by: 'alice', reason: null };
    for (const snapshot of running) {
      const live = applyEvent(toolOperation, snapshot, event);
      const restored = applyEvent(toolOperation, readSnapshot('op-1', writeSnapshot(snapshot)), event);
      expect([statePath(restored), restored.context]).toEqual([statePath(live), live.context]);
    }
  });
});

describe('what this version cannot read is refused in words', () => {
  const { input: _, ...withoutInput } = contextOf();
  it.each([
    ['a newer machine', { ...record(), machineVersion: MACHINE_VERSION + 1 }, /newer version.*Upgrade this executor/],
    ['a newer reader', { ...record(), minReaderVersion: READER_VERSION + 1, later: {} }, /needs a reader of version 3/],
    [
      'a reader that is no number',
      { ...record(), minReaderVersion: '2' },
      /is not a toolOperation.v1.*minReaderVersion/s,
    ],
    ['another schema', { ...record(), schema: 'toolOperation.v2' }, /newer version/],
    ['an unknown state', { ...record(), value: { WORKING: 'dreaming' } }, /a state that this version does not have/],
    ['an unknown top state', { ...record(), value: 'DREAMING' }, /a state that this version does not have/],
    ['a missing field', { ...record(), context: withoutInput }, /is not a toolOperation.v1.*input/s],
    [
      'an extra field',
      { ...record(), context: { ...contextOf(), colour: 'red' } },
      /is not a toolOperation.v1.*colour/s,
    ],
    ['NaN (stored as null)', { ...record(), context: { ...contextOf(), attempt: Number.NaN } }, /attempt/],
    ['no context', { schema: record().schema, machineVersion: 1, value: 'WORKING' }, /is not a toolOperation.v1/],
    ['an extra key', { ...record(), status: 'done' }, /is not a toolOperation.v1/],
    ['no object', 'null', /is not a toolOperation.v1/],
    ['no JSON', '{"schema": "toolOp', /is not JSON/],
    ['nothing', '', /is not JSON/],
  ])('%s', (_title, value, words) => {
    expect(reading(value)).toThrow(LedgerIncompatible);
    expect(reading(value)).toThrow(words);
    expect(reading(value)).toThrow(/record op-1 .*left untouched/s);
  });

  it('a new operation with a context that is none does not start', () => {
    expect(() => newOperation({ ...contextOf(), attempt: 0 })).toThrow(/attempt/);
  });
});

describe('what is no event of the chart changes nothing', () => {
  const stamp = { at: START + 50, random: 0 };
  const forged = [
    'xstate.stop',
    'xstate.init',
    'xstate.error.actor.x',
    'xstate.done.state.toolOperation',
    'nonsense',
    '',
  ];
  it.each(forged)('%s', (type) => {
    for (const snapshot of starts) {
      expect(applyEvent(toolOperation, snapshot, { ...stamp, type } as unknown as OperationEvent)).toBe(snapshot);
    }
  });

  it('a final state takes nothing', () => {
    expect(ended.map(statePath).sort()).toEqual(['ACCEPTED', 'CANCELLED_ACCEPTED', 'GIVEN_UP', 'NOT_SUBMITTED']);
    for (const snapshot of ended) {
      for (const type of OPERATION_EVENT_TYPES) {
        expect(applyEvent(toolOperation, snapshot, { ...stamp, type } as unknown as OperationEvent)).toBe(snapshot);
      }
    }
  });
});
