/** Every event is answered in every state, and the chart is only what the brief and the design say (B5). */
import { describe, expect, it } from 'vitest';
import { OPERATION_EVENT_TYPES, type OperationEventType } from '../../machines/tool-operation/events.ts';
import { guards } from '../../machines/tool-operation/guards.ts';
import { ignoredBecause, ignoredEvents } from '../../machines/tool-operation/ignored.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { updates } from '../../machines/tool-operation/updates.ts';
import { ancestors, arrows, guardNames, leaves, type Node, namesIn, nodes, pathOf } from './chart.ts';

const EVIDENCE: readonly OperationEventType[] = [
  'submit.acknowledged',
  'submit.outcome',
  'poll.status',
  'lookup.found',
  'result.fetched',
  'cancel.confirmed',
  // With a result.
  'input.channelClosed',
];

/** The root only keeps the evidence of an older epoch: it is no answer to evidence of the current one. */
function listens(leaf: Node, event: OperationEventType): boolean {
  if (leaf.type === 'final') return false;
  return ancestors(leaf).some((node) => node.transitions.has(event) && (node.parent || !EVIDENCE.includes(event)));
}

describe('B5: every event is answered in every state', () => {
  for (const leaf of leaves) {
    it(pathOf(leaf), () => {
      const unanswered = OPERATION_EVENT_TYPES.filter(
        (event) => !listens(leaf, event) && ignoredBecause(pathOf(leaf), event) === null,
      );
      const both = OPERATION_EVENT_TYPES.filter(
        (event) => listens(leaf, event) && ignoredBecause(pathOf(leaf), event) !== null,
      );
      expect({ unanswered, both }).toEqual({ unanswered: [], both: [] });
    });
  }

  it('the list names no state that is not there, and no event twice in one state', () => {
    expect(Object.keys(ignoredEvents).sort()).toEqual(leaves.map(pathOf).sort());
    for (const [state, reasons] of Object.entries(ignoredEvents)) {
      const events = reasons.flatMap(([, types]) => types);
      expect([state, events.length]).toEqual([state, new Set(events).size]);
    }
  });
});

describe('evidence is ignored nowhere, unless nothing is lost by it', () => {
  const LOSES_NOTHING = [
    'there is no id: nothing can have been polled, fetched, asked or cancelled',
    'there is no id: such an answer is about something else',
    'a look-up that is over: the id is known, and the record went on with it',
    'a look-up of an earlier attempt: this attempt goes out under the same key and meets what there is',
    'a look-up of an earlier attempt: this attempt is on its way under the same key and meets what there is',
    'no outcome was observed: its result is fetched when one is',
    'no cancel was sent: a task that is cancelled shows it in its next status',
    'a cancelled call has no success payload; acceptance looks for one for the audit',
    'the operation is over: its one receipt is written',
  ];
  it.each(EVIDENCE)('%s', (event) => {
    const reasons = leaves.map((leaf) => ignoredBecause(pathOf(leaf), event)).filter((reason) => reason !== null);
    expect(LOSES_NOTHING).toEqual(expect.arrayContaining([...new Set(reasons)]));
  });

  it('F8: of an older epoch it goes to the inbox, in every state', () => {
    for (const event of EVIDENCE) expect(toolOperation.root.transitions.has(event)).toBe(true);
  });
});

describe('the chart is made of names', () => {
  it('every guard and every action is a name; none stands in the chart itself', () => {
    for (const { guard, actions } of arrows) {
      expect(guard === undefined || typeof guard === 'string').toBe(true);
      for (const action of actions) expect(typeof action === 'string' || typeof action === 'object').toBe(true);
    }
  });

  it('every name is defined, and every defined guard is used', () => {
    const used = new Set(arrows.flatMap(({ guard }) => (guard === undefined ? [] : namesIn(guard))));
    expect([...used].filter((name) => !guardNames.includes(name))).toEqual([]);
    expect(guardNames.filter((name) => !used.has(name))).toEqual([]);
    expect(Object.keys(guards).filter((name) => !used.has(name))).toEqual([]);
  });

  it('every update is used', () => {
    const used = new Set(
      arrows.flatMap(({ actions }) => actions.map((action) => (typeof action === 'string' ? action : 'park'))),
    );
    expect(Object.keys(updates).filter((name) => !used.has(name))).toEqual([]);
    const defined = [...Object.keys(updates), 'park'];
    expect([...used].filter((name) => !defined.includes(name))).toEqual([]);
  });

  it('nothing that would not survive a restart: no after, invoke, always, entry or exit', () => {
    for (const node of [toolOperation.root as Node, ...nodes]) {
      expect([node.after, node.invoke, node.always ?? [], node.entry, node.exit]).toEqual([[], [], [], [], []]);
    }
  });

  it('every state says what it is', () => {
    for (const node of [toolOperation.root as Node, ...nodes]) expect(node.description, node.id).toBeTruthy();
  });

  it('every state owes one effect, apart from those that end or wait for a human', () => {
    const idle = leaves.filter((leaf) => leaf.meta?.effect === undefined).map(pathOf);
    expect(idle.sort()).toEqual(
      [
        ...['ACCEPTED', 'CANCELLED_ACCEPTED', 'GIVEN_UP', 'NOT_SUBMITTED'],
        ...['PARKED.disputed', 'PARKED.waiting'],
      ].sort(),
    );
  });

  it('B12: terminal states are entered by terminal.accept only', () => {
    for (const { event, targets } of arrows) {
      if (targets.some((target) => target.type === 'final')) expect(event).toBe('terminal.accept');
    }
  });
});

describe('B5: the states of the brief, verbatim, and its arrows', () => {
  const BRIEF: Readonly<Record<string, readonly string[]>> = {
    SUBMITTING: ['WORKING', 'SUBMISSION_UNKNOWN'],
    SUBMISSION_UNKNOWN: ['WORKING', 'NOT_FOUND_SAFE'],
    WORKING: ['INPUT_REQUIRED', 'CANCEL_REQUESTED', 'TERMINAL_OBSERVED'],
    INPUT_REQUIRED: ['WORKING', 'CANCEL_REQUESTED', 'TERMINAL_OBSERVED'],
    TERMINAL_OBSERVED: ['FETCHING_RESULT'],
    FETCHING_RESULT: ['ACCEPTED'],
    CANCEL_REQUESTED: ['CANCELLED_ACCEPTED', 'TERMINAL_OBSERVED'],
  };
  /** The edges that the brief's picture leaves out, and why they are there (design, sections 1 and 7). */
  const MORE: Readonly<Record<string, readonly (readonly [to: string, why: string])[]>> = {
    SUBMITTING: [
      ['TERMINAL_OBSERVED', 'an outcome that comes at once'],
      ['CANCEL_REQUESTED', 'a cancel was asked before the id was known'],
      ['CONCLUDING', 'provably not submitted'],
      ['PARKED', 'cancelled or rejected while an earlier send is open; wrong task; server gone; key expired'],
    ],
    SUBMISSION_UNKNOWN: [
      ['TERMINAL_OBSERVED', 'a late outcome, or a receipt (B13)'],
      ['CANCEL_REQUESTED', 'a cancel was asked before the id was known'],
      ['CONCLUDING', 'cancelled or rejected, and provably never created'],
      ['SUBMITTING', 'a late answer that asks before there is a task'],
      ['PARKED', 'nothing proves what became of it'],
    ],
    NOT_FOUND_SAFE: [
      ['SUBMITTING', 'the next attempt, under the same key'],
      ['WORKING', 'late evidence'],
      ['TERMINAL_OBSERVED', 'a late outcome'],
      ['CONCLUDING', 'cancelled, and everything sent is closed'],
      ['PARKED', 'cancelled with a send open; wrong task; server gone; key expired'],
    ],
    WORKING: [
      ['CLASSIFYING_NOT_FOUND', 'unknown id (B13)'],
      ['PARKED', 'budget, contradiction, lost prompt, server gone'],
    ],
    INPUT_REQUIRED: [
      ['CLASSIFYING_NOT_FOUND', 'the last look after the deadline finds no such id'],
      ['PARKED', 'deadline, contradiction, server gone'],
    ],
    CANCEL_REQUESTED: [
      ['CLASSIFYING_NOT_FOUND', 'unknown id (B13)'],
      ['PARKED', 'never confirmed, contradiction, server gone'],
    ],
    TERMINAL_OBSERVED: [
      ['CANCELLED_ACCEPTED', 'a cancelled task has no result to wait for'],
      ['CLASSIFYING_NOT_FOUND', 'the result of an unknown id (B13)'],
      ['PARKED', 'contradiction, server gone without the result'],
    ],
    FETCHING_RESULT: [
      ['CLASSIFYING_NOT_FOUND', 'the result of an unknown id (B13)'],
      ['PARKED', 'no result inside its budget, contradiction, server gone without it'],
    ],
    CLASSIFYING_NOT_FOUND: [
      ['WORKING', 'found by its key'],
      ['CANCEL_REQUESTED', 'found by its key, or confirmed, after a cancel'],
      ['TERMINAL_OBSERVED', 'a receipt, or a late terminal status'],
      ['FETCHING_RESULT', 'its result came after all'],
      ['PARKED', 'nothing proves why'],
    ],
    PARKED: [
      ['WORKING', 'late evidence, or attached by a human'],
      ['CANCEL_REQUESTED', 'a cancel is sent as soon as an id is known'],
      ['TERMINAL_OBSERVED', 'late evidence, or declared by a human'],
      ['FETCHING_RESULT', 'a late result of an observed outcome'],
      ['NOT_FOUND_SAFE', 'proven after all'],
      ['SUBMITTING', 'a late answer that asks before there is a task'],
      ['CONCLUDING', 'never created, or given up'],
    ],
    CONCLUDING: [
      ['NOT_SUBMITTED', 'its receipt'],
      ['GIVEN_UP', 'its receipt'],
      ['WORKING', 'evidence to the contrary, before it was accepted'],
      ['CANCEL_REQUESTED', 'evidence to the contrary, before it was accepted'],
      ['TERMINAL_OBSERVED', 'evidence to the contrary, before it was accepted'],
      ['PARKED', 'evidence of a wrong task, before it was accepted'],
    ],
  };
  const drawn = new Set(
    arrows.flatMap(({ from, targets }) =>
      targets.map((target) => `${from.path[0]} -> ${target.path[0]}`).filter((edge) => !isLoop(edge)),
    ),
  );
  const told = Object.entries(BRIEF).flatMap(([from, list]) => list.map((to) => `${from} -> ${to}`));
  const more = Object.entries(MORE).flatMap(([from, list]) => list.map(([to]) => `${from} -> ${to}`));

  it.each(told)('%s', (edge) => {
    expect(drawn.has(edge)).toBe(true);
  });
  it('and no others than those that the design explains', () => {
    expect([...drawn].sort()).toEqual([...told, ...more].sort());
  });
});

function isLoop(edge: string): boolean {
  const [from, to] = edge.split(' -> ');
  return from === to;
}
