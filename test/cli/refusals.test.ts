import { describe, expect, it } from 'vitest';
import { gateGuards } from '../../machines/approval-gate/machine.ts';
import { guards } from '../../machines/tool-operation/guards.ts';
import { REFUSALS } from '../../visualizer/cli/refused.ts';
import { arrows, namesIn } from '../machines/chart.ts';

const known = new Set(REFUSALS.map(([guard]) => guard));
const internal = new RegExp(`\\b(${[...Object.keys(guards), ...Object.keys(gateGuards)].join('|')})\\b`);

describe('a refused command is told in words', () => {
  it.each([
    'cancel.request',
    'input.reply',
    'reconcile.attach',
    'reconcile.accept',
    'reconcile.neverCreated',
    'reconcile.giveUp',
  ])('%s: every arrow that can refuse it has a reason that is known', (event) => {
    const refusing = arrows.filter((arrow) => arrow.event === event).map(({ guard }) => namesIn(guard));
    expect(refusing.length).toBeGreaterThan(0);
    // A state in which something of it is taken without a condition refuses nothing; a name is enough for the others.
    for (const names of refusing.filter(({ length }) => length > 0)) {
      const reasons = names.filter((name) => known.has(name) || known.has(`not ${name}`));
      const always = names.includes('everySendIsClosed') || names.includes('handDeclaresCancelled');
      expect(always || reasons.length > 0, names.join()).toBe(true);
    }
  });

  it('so is every condition of the approval gate that an answer to an open question can miss', () => {
    const missable = Object.keys(gateGuards).filter((name) => name !== 'matchesOperation');
    expect(missable.filter((name) => !known.has(name))).toEqual([]);
  });

  it('without the name of a guard', () => {
    for (const [, why] of REFUSALS) expect(why).not.toMatch(internal);
  });
});
