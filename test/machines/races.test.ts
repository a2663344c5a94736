import { describe, expect, it } from 'vitest';
import { ParkReason } from '../../machines/tool-operation/context.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { RACES, SCENARIOS } from './race-scenarios.ts';
import { play } from './scenario.ts';

for (const { row, scenarios } of RACES) {
  describe(row, () => {
    for (const scenario of scenarios) {
      it(scenario.title, () => {
        const { trace, expected } = play(scenario);
        expect(trace).toEqual(expected);
      });
    }
  });
}

/** Why nothing better was possible. The scenarios above reach each of them. */
const WHY_PARKED: Record<ParkReason, string> = {
  'no-lookup': 'the call may have been sent and the server offers nothing that could be asked for it',
  'lookup-budget': 'only the look-up knows, and it did not answer: it goes on slowly, but a caller must hear of it',
  'key-expired': 'a server that forgot the key is not a server that never knew it',
  'late-submission-possible':
    'a receipt "cancelled, never created" or another attempt could be followed by a live task',
  'unknown-id': 'the id was acknowledged and is unknown: neither "never created" nor "failed" is true of it',
  expired: 'the server forgot it after its own time to live, without a receipt',
  'session-lost': 'another session may not see the task: its absence proves nothing',
  'server-gone': 'the only process that could be asked has ended',
  'wait-budget': 'the caller allowed no more; ending the task would be a cancel that nobody asked for',
  'cancel-unconfirmed': 'the cancel was neither confirmed nor overtaken by an outcome: both may still be true',
  'input-deadline': 'the task waits for an answer that nobody may give any more',
  'result-unavailable': 'completed never advances without its result',
  contradiction: 'two answers of the server cannot both be true: no rule can choose',
};

describe('B13, G5: the reasons for parking are a closed list', () => {
  const reached = new Map<string, string>();
  for (const scenario of SCENARIOS) {
    for (const snapshot of play(scenario, undefined, false).snapshots) {
      const { parked } = snapshot.context;
      if (parked && statePath(snapshot).startsWith('PARKED.')) reached.set(parked.reason, scenario.title);
    }
  }
  it.each(ParkReason.options.map((reason) => [reason, WHY_PARKED[reason]]))('%s: %s', (reason) => {
    expect(reached.has(reason)).toBe(true);
  });
});

it('every record that is not parked has no reason for it, and the other way round', () => {
  for (const scenario of SCENARIOS) {
    for (const snapshot of play(scenario, undefined, false).snapshots) {
      expect([scenario.title, snapshot.context.parked !== null]).toEqual([
        scenario.title,
        statePath(snapshot).startsWith('PARKED.'),
      ]);
    }
  }
});
