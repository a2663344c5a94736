/** The rows of the list: in their order, counted and cut, whatever comes and goes between two looks. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListQuery, pageOf } from '../../visualizer/web/query.ts';
import { Names, Row, rowOf } from '../../visualizer/web/row.ts';
import { Rows } from '../../visualizer/web/rows.ts';

const STATES = ['WORKING.polling', 'WORKING.waiting', 'ACCEPTED', 'PARKED'];
const row = (id: number, updatedAt: number, state = 'WORKING.polling', revision = 1): Row =>
  new Row(`p00.${id}`, state, revision, null, `Tool-${id % 3}`, `Node ${id}`, null, 1, updatedAt, null, null);
const ask = (query: Partial<ListQuery> = {}) => ListQuery.parse(query);

/** What a list is, without any care for how long it takes. */
function plainly(rows: readonly Row[], most: number): readonly Row[] {
  const order = (a: Row, b: Row) => b.updatedAt - a.updatedAt || (a.operationId < b.operationId ? -1 : 1);
  return [...rows].sort(order).slice(0, most);
}

describe('the rows', () => {
  const change = fc.record({
    id: fc.nat(400),
    updatedAt: fc.nat(60),
    state: fc.constantFrom(...STATES),
    goes: fc.integer({ min: 0, max: 3 }).map((nth) => nth === 0),
  });
  /** Few and many between two looks: they are put in order in two ways. */
  const rounds = fc.array(fc.oneof(fc.array(change, { maxLength: 6 }), fc.array(change, { maxLength: 700 })), {
    maxLength: 8,
  });

  it('are what a plain sort and count of all of them says', () => {
    fc.assert(
      fc.property(rounds, fc.constantFrom(30, 10_000), (changes, most) => {
        const rows = new Rows(most);
        let kept = new Map<string, Row>();
        for (const round of changes) {
          for (const { id, updatedAt, state, goes } of round) {
            const made = row(id, updatedAt, state);
            if (goes) rows.remove(made.operationId);
            else rows.put(made);
            if (goes) kept.delete(made.operationId);
            else kept.set(made.operationId, made);
          }
          const expected = plainly([...kept.values()], most);
          kept = new Map(expected.map((each) => [each.operationId, each]));
          expect(rows.ordered()).toEqual(expected);
          expect(rows.size).toBe(expected.length);
          for (const state of STATES)
            expect(rows.states.get(state) ?? 0).toBe(expected.filter((each) => each.state === state).length);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('when they are too many, the one that changed longest ago goes, not the new one', () => {
    const rows = new Rows(2);
    for (const [id, updatedAt] of [
      [1, 10],
      [2, 20],
      [3, 30],
    ] as const)
      rows.put(row(id, updatedAt));
    expect(rows.ordered().map(({ operationId }) => operationId)).toEqual(['p00.3', 'p00.2']);
    expect([rows.size, rows.full, rows.get('p00.1')]).toEqual([2, true, undefined]);
  });

  it('are shown in parts, of a state, of what is not over, and of what holds all the words; counts are of the words only', () => {
    const rows = new Rows(1_000);
    for (let id = 0; id < 40; id++) rows.put(row(id, id, STATES[id % 4]));
    const shown = (query: Partial<ListQuery>) => {
      const { rows: part, total, counts } = pageOf(rows, ask(query));
      return { ids: part.map(({ operationId }) => Number(operationId.slice(4))), total, counts };
    };
    const counts = { all: 40, unresolved: 30, WORKING: 20, ACCEPTED: 10, PARKED: 10 };
    expect(shown({ offset: 2, limit: 3 })).toEqual({ ids: [37, 36, 35], total: 40, counts });
    expect(shown({ state: 'ACCEPTED', offset: 1, limit: 2 })).toEqual({ ids: [34, 30], total: 10, counts });
    expect(shown({ state: 'unresolved', limit: 4 })).toEqual({ ids: [39, 37, 36, 35], total: 30, counts });
    expect(shown({ text: 'NODE tool-0', limit: 2 })).toMatchObject({ ids: [39, 36], total: 14 });
    expect(shown({ text: 'node p00.7' })).toEqual({
      ids: [7],
      total: 1,
      counts: { all: 1, unresolved: 1, PARKED: 1 },
    });
    expect(shown({ offset: 40 })).toMatchObject({ ids: [], total: 40 });
    expect(shown({ text: 'nobody' })).toEqual({ ids: [], total: 0, counts: { all: 0, unresolved: 0 } });
  });

  it('a record that cannot be opened, or of another form, is a row that says so', () => {
    const base = { operationId: 'p00.x', state: '', revision: '3', dueAt: null };
    const damaged = {
      ...base,
      get snapshot(): string {
        throw new Error('damaged');
      },
    };
    for (const listable of [damaged, { ...base, snapshot: '{"context":{}}' }, { ...base, snapshot: 'no JSON' }]) {
      const made = rowOf(listable, new Names());
      expect(made).toMatchObject({
        operationId: 'p00.x',
        revision: 3,
        problem: expect.stringContaining('cannot be read'),
      });
    }
  });
});
