/** The list of a whole ledger, read in the background: what it says while it is read, what it reads, and what it leaves closed. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OperationLedger, SummaryAnswer } from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import { Catalogue, type CatalogueOptions } from '../../visualizer/web/catalogue.ts';
import { ListQuery } from '../../visualizer/web/query.ts';
import { HeldLedger } from '../mutate/held-ledger.ts';
import { acceptStep, step, unique } from '../persistence/steps.ts';
import { eventually, LEDGERS, type Rig, startRig } from '../support/rig.ts';

const PAGE = 4;
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, nth) => `node-${nth}`);
const snapshotOf = (callNodeId: string, updatedAt: number): string =>
  JSON.stringify({
    context: {
      ...{ tool: { name: 'report' }, callNodeId, serverStatus: 'working', createdAt: 1, updatedAt, parked: null },
    },
  });

describe.each(LEDGERS)('the list of a ledger on %s', (kind) => {
  let rig: Rig;
  const closers: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    rig = await startRig(kind);
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  afterAll(() => rig.close());

  /** A ledger of its own, and a second handle as another process has it. */
  const stage = async (partitions: number) => {
    const namespace = unique('list');
    let now = 1_000;
    const open = async (): Promise<OperationLedger> => {
      const ledger = await openLedger(rig.address, { namespace, partitions, now: () => now });
      closers.push(() => ledger.close());
      return ledger;
    };
    const [ledger, other] = [await open(), await open()];
    const idOf = (callNodeId: string) => ledger.operationIdOf({ namespace, principal: 'alice', callNodeId });
    const create = async (callNodeId: string): Promise<string> => {
      now += 1;
      const made = step(idOf(callNodeId), { snapshot: snapshotOf(callNodeId, now) });
      expect(await other.create(made, null)).toMatchObject({ kind: 'created' });
      return made.operationId;
    };
    const change = async (callNodeId: string, state: string, revision = '1'): Promise<void> => {
      now += 1;
      const made = step(idOf(callNodeId), { snapshot: snapshotOf(callNodeId, now), state });
      expect(await other.commit({ ...made, expectedRevision: revision })).toMatchObject({ kind: 'committed' });
    };
    const list = (over = ledger, options: CatalogueOptions = {}): Catalogue => {
      const catalogue = new Catalogue(over, { pageSize: PAGE, ...options }).start();
      closers.push(() => catalogue.close());
      return catalogue;
    };
    const createAll = async (all: readonly string[]) => {
      for (const name of all) await create(name);
    };
    return { ledger, other, create, createAll, change, list, idOf };
  };
  const look = (catalogue: Catalogue, query: Partial<ListQuery> = {}) => catalogue.page(ListQuery.parse(query), 0);
  const shown = (catalogue: Catalogue, query: Partial<ListQuery> = {}) =>
    look(catalogue, query).rows.map(({ callNodeId }) => callNodeId);
  const complete = (catalogue: Catalogue) => eventually(async () => look(catalogue).progress === 'complete');

  it('begins with the newest, answers in between, and says how far it is', async () => {
    const { ledger, createAll, list } = await stage(1);
    const all = names(10);
    await createAll(all);
    const held = new HeldLedger(ledger);
    let pages = 0;
    const second = held.hold(({ method }) => method === 'newest' && ++pages === 2);
    const catalogue = list(held.ledger);
    await second.asked;
    await eventually(async () => look(catalogue).held !== null);
    const newest = [...all].reverse();
    expect(look(catalogue)).toMatchObject({ progress: 'filling', operations: PAGE, held: 10, total: PAGE });
    expect(shown(catalogue)).toEqual(newest.slice(0, PAGE));
    // What is asked for is looked for in what was read so far.
    expect(look(catalogue, { text: 'node-0' })).toMatchObject({ progress: 'filling', total: 0, operations: PAGE });
    second.letThrough();
    await complete(catalogue);
    expect(look(catalogue)).toMatchObject({ operations: 10, held: 10, total: 10, counts: { WORKING: 10 } });
    expect(shown(catalogue)).toEqual(newest);
    expect(shown(catalogue, { text: 'node-0' })).toEqual(['node-0']);
  });

  it('takes in what is made and changed while it is read, also where that was read before', async () => {
    const { ledger, createAll, create, change, list } = await stage(1);
    await createAll(names(10));
    const held = new HeldLedger(ledger);
    let pages = 0;
    const third = held.hold(({ method }) => method === 'newest' && ++pages === 3);
    const catalogue = list(held.ledger);
    await third.asked;
    await create('made-meanwhile');
    await change('node-9', 'PARKED');
    await change('node-0', 'CHANGED');
    const seen = ['node-0', 'node-9', 'made-meanwhile'];
    await eventually(async () => shown(catalogue).slice(0, 3).join() === seen.join());
    third.letThrough();
    await complete(catalogue);
    expect(look(catalogue)).toMatchObject({ operations: 11, counts: { PARKED: 1, CHANGED: 1, WORKING: 9 } });
    expect(shown(catalogue).slice(0, 3)).toEqual(seen);
  });

  it('reads a page of every partition in turn, never more records at once than a page has, and each of them once', async () => {
    const { ledger, createAll, list } = await stage(3);
    await createAll(names(30));
    const held = new HeldLedger(ledger);
    await complete(list(held.ledger));
    const asked = held.calls.filter(({ method }) => method === 'summaries').map(({ args }) => args[0] as unknown[]);
    expect(Math.max(...asked.map(({ length }) => length))).toBeLessThanOrEqual(PAGE);
    expect(asked.flat()).toHaveLength(30);
    const turns = held.calls.filter(({ method }) => method === 'newest').map(({ args }) => args[0]);
    expect(turns.slice(0, 3)).toMatchObject([{ partition: 0 }, { partition: 1 }, { partition: 2 }]);
    // Two round trips a page: which, and what of them.
    expect(asked.length).toBeLessThanOrEqual(turns.length);
    expect(held.calls.filter(({ method }) => method === 'load' || method === 'list')).toEqual([]);
  });

  it('finds in the next round what no nudge told of, and opens no record again that did not change', async () => {
    const { ledger, other, createAll, create, change, list, idOf } = await stage(3);
    await createAll(names(12));
    const answers: SummaryAnswer[] = [];
    const deaf = new Proxy(ledger, {
      get: (target, name) => {
        if (name === 'onChange') return () => () => undefined;
        if (name === 'summaries')
          return async (...asked: Parameters<OperationLedger['summaries']>) => {
            const some = await target.summaries(...asked);
            answers.push(...some);
            return some;
          };
        const member = Reflect.get(target, name) as unknown;
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const catalogue = list(deaf, { sweepEveryMs: 20 });
    await complete(catalogue);
    expect(answers.filter(({ kind: of }) => of === 'summary')).toHaveLength(12);

    await change('node-3', 'CHANGED');
    await create('new');
    await other.acceptTerminal(acceptStep(idOf('node-5'), '1'));
    const [ready] = await other.leaseReady('c', 1, 1_000);
    expect(await other.ackReady(ready ?? expect.fail(), 'c')).toBe(true);
    const policy = { recordsMs: 0, receiptsMs: null, tombstonesMs: null };
    expect((await other.purge({ policy })).records.count).toBe(1);
    await eventually(
      async () =>
        look(catalogue).operations === 12 && shown(catalogue).includes('new') && !shown(catalogue).includes('node-5'),
    );
    await eventually(async () => look(catalogue, { state: 'CHANGED' }).total === 1);
    // The one that changed and the new one, besides those of the beginning; the one that is gone may have been met before it went.
    const opened = answers.filter(({ kind: of }) => of === 'summary').length;
    expect(opened).toBeGreaterThanOrEqual(14);
    expect(opened).toBeLessThanOrEqual(15);
  });

  it('says when there is more than it keeps, and shows what is new all the same', async () => {
    const { createAll, create, list } = await stage(1);
    await createAll(names(9));
    const catalogue = list(undefined, { maxRows: 5 });
    await eventually(async () => look(catalogue).progress === 'capped');
    expect(look(catalogue)).toMatchObject({ operations: 5, held: 9, total: 5 });
    expect(shown(catalogue)).toEqual(['node-8', 'node-7', 'node-6', 'node-5', 'node-4']);
    await create('new');
    await eventually(async () => shown(catalogue)[0] === 'new');
    expect(look(catalogue).operations).toBe(5);
  });

  it('a record that it cannot read stands among the others, and says so', async () => {
    const { other, createAll, list, idOf } = await stage(1);
    await createAll(names(5));
    await other.create(step(idOf('strange'), { snapshot: '{"of":"another version"}' }), null);
    const catalogue = list();
    await complete(catalogue);
    expect(look(catalogue).operations).toBe(6);
    const strange = look(catalogue).rows.find(({ operationId }) => operationId === idOf('strange'));
    expect(strange).toMatchObject({ tool: '?', problem: expect.stringContaining('cannot be read') });
  });
});
