import { describe, expect, it } from 'vitest';
import { newOperation, recordOf, step, unique } from '../persistence/steps.ts';
import { LEDGERS } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

describe.each(LEDGERS)('a lease that is given back on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it.each([
    ['null', null],
    ['a later time', 60_000],
  ])(
    "does not take away the due time of somebody else's step that its owner has claimed meanwhile (%s)",
    async (_, stale) => {
      const { ledger } = stage();
      const scope = unique('endpoint:e');
      const id = newOperation(ledger);
      const now = await ledger.now();
      const made = recordOf(await ledger.create(step(id, { scope, dueAt: now }), { owner: 'a', ms: 30_000 }));
      // Another process records a command: due now.
      const command = { ...step(id, { scope, dueAt: now }), expectedRevision: made.revision };
      expect((await ledger.commit(command)).kind).toBe('committed');
      // The claim loop of `a` sees it, and leaves it to the drive that runs (it holds the lease) ...
      const again = await ledger.claimDue({
        owner: 'a',
        scopes: [scope],
        limit: 4,
        leaseMs: 30_000,
        executionEpoch: 1,
      });
      expect(again.claimed.map(({ lease }) => lease?.epoch)).toEqual([made.lease?.epoch]);
      // ... which is leaving already, with the due time of the record as it knew it.
      await ledger.releaseLease(id, 'a', '1', stale === null ? null : now + stale, made.revision);
      const { claimed } = await ledger.claimDue({
        owner: 'b',
        scopes: [scope],
        limit: 4,
        leaseMs: 30_000,
        executionEpoch: 1,
      });
      expect(claimed.map(({ operationId }) => operationId)).toEqual([id]);
    },
  );
});
