/** The fences of the chart, fact by fact. */
import { describe, expect, it } from 'vitest';
import type { OperationEventType } from '../../machines/tool-operation/events.ts';
import { OPERATION_EVENT_TYPES } from '../../machines/tool-operation/events.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { ANSWERS, EVIDENCE, isOfAnyEpoch, PASSING, STEPS, told } from './fences.ts';

describe.each([
  ['passing: fenced by everything', PASSING],
  ['evidence: fenced by identity only', EVIDENCE],
  ['answers of one step: fenced by that step', ANSWERS],
  ['steps of the executor: fenced by the record it read', STEPS],
] as const)('%s', (_title, fences) => {
  it.each(fences.map((fence) => [fence[0], fence] as const))('%s', (_type, fence) => {
    const { snapshot, fresh, fencedBy, by } = told(fence);
    expect(fresh).not.toBe(snapshot);
    expect(fencedBy).toEqual(by);
  });
});

describe('F8: from an older execution epoch', () => {
  it.each(EVIDENCE.map((fence) => [fence[0], fence] as const))('evidence goes to the inbox: %s', (type, fence) => {
    const { snapshot, olderEpoch } = told(fence);
    expect(statePath(olderEpoch)).toBe(statePath(snapshot));
    expect(olderEpoch.context.inbox).toMatchObject([{ kind: type.split(' ')[0], executionEpoch: 4 }]);
    expect({ ...olderEpoch.context, inbox: [], dueAt: null }).toEqual({ ...snapshot.context, inbox: [], dueAt: null });
  });
  it.each(
    [...PASSING, ...ANSWERS.filter((fence) => !isOfAnyEpoch(fence)), ...STEPS].map(
      (fence) => [fence[0], fence] as const,
    ),
  )('nothing else is even kept: %s', (_type, fence) => {
    const { snapshot, olderEpoch } = told(fence);
    expect(olderEpoch).toBe(snapshot);
  });
});

it('every event that carries claims is in this table', () => {
  const commands: OperationEventType[] = ['cancel.request', 'input.reply', 'epoch.adopt'];
  const covered = [...PASSING, ...EVIDENCE, ...ANSWERS, ...STEPS].map(([title]) => title.split(' ')[0]);
  const facts = OPERATION_EVENT_TYPES.filter((type) => !commands.includes(type) && !type.startsWith('reconcile.'));
  expect([...new Set(covered)].sort()).toEqual([...facts].sort());
});
