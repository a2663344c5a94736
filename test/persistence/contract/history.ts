/** Partitions that went backwards (B4, B12, G2). */
import { describe, expect, it } from 'vitest';
import type { OperationLedger, ReadyRow } from '../../../machines/operation-ledger.ts';
import { Keys } from '../../../persistence/keys.ts';
import { acceptStep, NAMESPACE, newOperation, step, withLine } from '../steps.ts';
import { keysOf, type StoreBench } from './bench.ts';

export function historyInStore(bench: StoreBench): void {
  const { open, claim, now, pass } = bench;

  describe('history', () => {
    const PARTITION = 'p01';
    /** A new operation of that partition. */
    const operationHere = (): string => {
      for (;;) {
        const operationId = newOperation(bench.ledger);
        if (operationId.startsWith(PARTITION)) return operationId;
      }
    };
    const createHere = async (target = bench.ledger): Promise<string> => {
      const operationId = operationHere();
      await target.create(step(operationId), null);
      return operationId;
    };
    const historyOf = async (target = bench.ledger) =>
      (await target.histories()).find(({ partition }) => partition === PARTITION);
    const setMark = (mark: string) => bench.store.plant(new Keys(NAMESPACE).partition(1).mark, 'mark', mark);
    /** The partition forgets its steps down to this one. */
    const forgetTo = (number: number, epoch = 1) => setMark(`${epoch} ${number}`);

    const createElsewhere = async (): Promise<string> => {
      for (;;) {
        const operationId = newOperation(bench.ledger);
        if (operationId.startsWith(PARTITION)) continue;
        await bench.ledger.create(step(operationId), null);
        return operationId;
      }
    };

    it('counts the steps that write, and no others', async () => {
      const { ledger } = bench;
      const operationId = await createHere();
      expect(await historyOf()).toEqual({
        partition: PARTITION,
        shown: { epoch: 1, number: 1 },
        seen: { epoch: 1, number: 1 },
        regressed: false,
        acknowledged: null,
      });
      const next = { ...step(operationId), expectedRevision: '1' };
      await ledger.commit(next);
      await ledger.commit(next);
      await ledger.commit({ ...step(operationId), expectedRevision: '1' });
      await claim('a');
      await ledger.create(step(operationId), null);
      expect((await historyOf())?.shown.number).toBe(2);
      await ledger.acceptTerminal(acceptStep(operationId, '2'));
      expect((await historyOf())?.shown.number).toBe(3);
      const [row] = (await ledger.leaseReady('c', 5, 1000)) as [ReadyRow];
      expect((await historyOf())?.shown.number).toBe(3);
      await ledger.ackReady(row, 'c');
      expect((await historyOf())?.shown.number).toBe(4);
      await ledger.setAdapter('any', 'active');
      expect((await historyOf())?.shown.number).toBe(5);
      const { version } = await ledger.setRollout('rules', '0');
      expect((await historyOf())?.shown.number).toBe(6);
      await ledger.setRollout('other rules', '0');
      const ask = { operationId: operationHere(), version, side: 'ordinary', why: 'default off' } as const;
      await ledger.takeSide({ ...ask, version: '0' });
      await ledger.takeSide({ ...ask, side: null });
      await ledger.takeSide({ ...ask, operationId });
      expect((await historyOf())?.shown.number).toBe(6);
      await ledger.takeSide(ask);
      await ledger.takeSide(ask);
      expect((await historyOf())?.shown.number).toBe(7);
      expect((await ledger.histories()).map(({ partition }) => partition)).toEqual(['p00', PARTITION, 'p02']);
    });

    it('B4 B12: refuses every step where it shows less than was seen, and only there', async () => {
      const { ledger } = bench;
      const [first, second, third] = [await createHere(), await createHere(), await createHere()];
      await ledger.acceptTerminal(acceptStep(third, '1'));
      const [row] = (await ledger.leaseReady('c', 5, 1)) as [ReadyRow];
      pass(2);
      await forgetTo(3);
      const seen = { epoch: 1, number: 4 };
      const shown = { epoch: 1, number: 3 };
      const refused = { name: 'LedgerRegressed', partition: PARTITION, seen, shown };
      const steps: (() => Promise<unknown>)[] = [
        () => ledger.create(step(operationHere()), null),
        () => ledger.commit({ ...step(first), expectedRevision: '1' }),
        () => ledger.acceptTerminal(acceptStep(second, '1')),
        () => ledger.ackReady(row, 'c'),
        () => ledger.setAdapter('any', 'draining'),
        () => ledger.setRollout('rules', '0'),
        // R2: a side that was recorded may be among what is forgotten.
        () => ledger.takeSide({ operationId: operationHere(), version: '0', side: 'ordinary', why: '' }),
      ];
      for (const refusedStep of steps) await expect(refusedStep()).rejects.toMatchObject(refused);
      await expect(steps[0]?.()).rejects.toThrow(/p01.*epoch 1, step 3.*epoch 1, step 4.*toolop history/);
      expect(await ledger.leaseReady('c', 5, 1000)).toEqual([]);
      expect(await ledger.load(first)).toMatchObject({ revision: '1', lease: null });
      expect(await historyOf()).toMatchObject({ shown, seen, regressed: true });
      expect(await ledger.audit()).toEqual([
        { operationId: PARTITION, problem: expect.stringMatching(/step 3 of epoch 1, and step 4/) },
      ]);
      // The others go on, and what can be claimed is.
      const elsewhere = await Promise.all(Array.from({ length: 12 }, () => createElsewhere()));
      const ask = { owner: 'a', scopes: ['endpoint:e'], limit: 20, leaseMs: 1000, executionEpoch: 1 };
      const { claimed, regressed } = await ledger.claimDue(ask);
      expect(claimed.map(({ operationId }) => operationId).sort()).toEqual(elsewhere.sort());
      expect([...regressed.values()]).toMatchObject([refused]);
    });

    it('tells everybody, also those who have seen nothing', async () => {
      const { ledger } = bench;
      const operationId = await createHere();
      await createHere();
      await forgetTo(1);
      const other = await open();
      await expect(ledger.commit({ ...step(operationId), expectedRevision: '1' })).rejects.toThrow(/older history/);
      await expect(createHere(other)).rejects.toMatchObject({ seen: { number: 2 }, shown: { number: 1 } });
      expect(await historyOf(other)).toMatchObject({ regressed: true });
    });

    it('keeps the highest mark that anybody has seen', async () => {
      const other = await open();
      await createHere();
      await createHere(other);
      await createHere();
      const behind = await open();
      await forgetTo(2);
      await createHere(behind);
      await forgetTo(1);
      const seenBy = async (target: OperationLedger) =>
        (await createHere(target).catch((error: unknown) => error)) as { seen: unknown };
      // One has seen the second step, the next the third.
      expect((await seenBy(other)).seen).toEqual({ epoch: 1, number: 2 });
      expect((await seenBy(behind)).seen).toEqual({ epoch: 1, number: 3 });
      expect((await seenBy(other)).seen).toEqual({ epoch: 1, number: 3 });
    });

    it('goes on in a new epoch once somebody has acknowledged it', async () => {
      const { ledger } = bench;
      const witness = await open();
      await createHere();
      await createHere(witness);
      await createHere();
      await forgetTo(1);
      await expect(createHere()).rejects.toThrow(/older history/);
      const [again] = await ledger.acknowledgeRegress('operator', [PARTITION]);
      expect(again).toEqual({
        partition: PARTITION,
        shown: { epoch: 2, number: 1 },
        seen: { epoch: 2, number: 1 },
        regressed: false,
        acknowledged: { by: 'operator', at: now() },
      });
      await createHere();
      const fresh = await open();
      await createHere(fresh);
      expect(await historyOf()).toMatchObject({ shown: { epoch: 2, number: 3 }, regressed: false });
      // More steps of the epoch before are no objection.
      await forgetTo(1, 2);
      expect(await createHere(witness)).toContain(PARTITION);
      await forgetTo(3, 2);
      // And backwards once more, into the epoch before.
      await forgetTo(9);
      await expect(createHere()).rejects.toMatchObject({ seen: { epoch: 2 }, shown: { epoch: 1, number: 9 } });
      const [later] = await fresh.acknowledgeRegress('operator', [PARTITION]);
      expect(later?.shown).toEqual({ epoch: 3, number: 9 });
      await expect(ledger.acknowledgeRegress('operator', ['p77'])).rejects.toThrow(/no partition.*p00 to p02/);
    });

    it('counts one acknowledgement once, however often it is sent, and goes beyond every epoch that was seen', async () => {
      const { store } = bench;
      const host = await store.host();
      const { mark } = new Keys(NAMESPACE).partition(1);
      const acknowledge = (shown: string, seen: string) =>
        host.run('acknowledge', [mark], [String(now()), shown, seen, 'operator']);
      expect(await acknowledge('1', '1')).toEqual(['2', '0']);
      expect(await acknowledge('1', '1')).toEqual(['2', '0']);
      expect(await acknowledge('2', '6')).toEqual(['7', '0']);
      await setMark('2 5 9 1');
      expect(await acknowledge('2', '4')).toEqual(['10', '5']);
      await host.close();
    });

    it('B4 G2: a record that was made before there were epochs is taken over as any other', async () => {
      const { ledger, store } = bench;
      const operationId = await createHere();
      await ledger.acknowledgeRegress('operator', [PARTITION]);
      const commit = (expectedRevision: string, olderHistory?: 'adopt') =>
        ledger.commit({ ...step(operationId), expectedRevision, ...(olderHistory ? { olderHistory } : {}) });
      expect(await commit('1', 'adopt')).toMatchObject({ revision: '2' });
      await store.replace(keysOf(operationId).operation(operationId), withLine('epoch', ''));
      expect(await commit('2')).toEqual({ kind: 'olderHistory' });
      expect(await commit('2', 'adopt')).toMatchObject({ revision: '3' });
      expect(await commit('3')).toMatchObject({ revision: '4' });
    });

    it('a record that was made before there were epochs is of the first', async () => {
      const { ledger, store } = bench;
      const operationId = await createHere();
      await store.replace(new Keys(NAMESPACE).partition(1).operation(operationId), withLine('epoch', ''));
      expect(await ledger.commit({ ...step(operationId), expectedRevision: '1' })).toMatchObject({ revision: '2' });
    });
  });
}
