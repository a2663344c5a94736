/** Several writers that take whole operations through a ledger, and what must hold of what was acknowledged to them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { LedgerUnavailable, type OperationLedger } from '../../machines/operation-ledger.ts';
import { acceptStep, newOperation, step } from './steps.ts';

export interface Writers {
  /** Acknowledged steps so far. Throws what a writer met that it could not go on with. */
  readonly steps: number;
  /** Ends the writing, whatever comes of it. */
  abandon(): void;
  /** Ends the writing and compares the ledger with every acknowledgement. */
  endAndJudge(): Promise<void>;
}

/** Every step is of the kind that waits for a replica: created, sent, accepted. A step whose outcome is unknown is sent again. */
export function startWriters(ledger: OperationLedger, count: number): Writers {
  const acknowledged = new Map<string, number>();
  const receipts = new Set<string>();
  let steps = 0;
  let over = false;
  let abandoned = false;
  const definite = async <T>(take: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        const answer = await take();
        steps += 1;
        return answer;
      } catch (error) {
        // A regress would be one of these too, and would never end.
        if (abandoned || !(error instanceof LedgerUnavailable) || error.name !== 'LedgerUnavailable') throw error;
        await sleep(50);
      }
    }
  };
  const writers = Array.from({ length: count }, async () => {
    while (!over) {
      const operationId = newOperation(ledger);
      const first = step(operationId, { creates: 'mcp-test' });
      expect(await definite(() => ledger.create(first, null))).toMatchObject({ kind: 'created' });
      acknowledged.set(operationId, 1);
      const sending = { ...step(operationId, { creates: 'mcp-test' }), expectedRevision: '1' };
      expect(await definite(() => ledger.commit(sending))).toEqual({ kind: 'committed', revision: '2' });
      acknowledged.set(operationId, 2);
      const accepting = acceptStep(operationId, '2');
      expect(await definite(() => ledger.acceptTerminal(accepting))).toEqual({ kind: 'accepted', revision: '3' });
      acknowledged.set(operationId, 3);
      receipts.add(operationId);
    }
  });
  const all = Promise.all(writers);
  let failure: unknown = null;
  all.catch((error: unknown) => {
    failure = error;
  });
  return {
    get steps() {
      if (failure !== null) throw failure;
      return steps;
    },
    abandon() {
      over = true;
      abandoned = true;
    },
    async endAndJudge() {
      over = true;
      await all;
      for (const [operationId, revision] of acknowledged) {
        expect(await ledger.load(operationId)).toMatchObject({ revision: String(revision) });
        expect((await ledger.readHistory(operationId)).length).toBe(revision);
      }
      const rows = new Map<string, number>();
      for (;;) {
        const leased = await ledger.leaseReady('judge', 500, 600_000);
        if (leased.length === 0) break;
        for (const row of leased) rows.set(row.operationId, (rows.get(row.operationId) ?? 0) + 1);
      }
      expect([...rows.keys()].sort()).toEqual([...receipts].sort());
      expect(Math.max(...rows.values())).toBe(1);
      expect(await ledger.audit()).toEqual([]);
      expect((await ledger.histories()).filter(({ regressed }) => regressed)).toEqual([]);
    },
  };
}
