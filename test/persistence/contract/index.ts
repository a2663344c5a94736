/**
 * What our hosts must do alike: the contract of every ledger, and then what stands in the store behind it: scripts that are sent
 * again, what another release or somebody with a client of his own has written, forms and words.
 */
import * as vitest from 'vitest';
import { ledgerContract as contractOfEveryLedger } from '../../kit/ledger-contract/index.ts';
import { acceptInStore } from './accept.ts';
import { auditInStore } from './audit.ts';
import { asLedger, type StoreBench, type StoreUnderTest, setUpStore } from './bench.ts';
import { claimsInStore } from './claims.ts';
import { commitInStore } from './commit.ts';
import { createInStore } from './create.ts';
import { epochInStore } from './epoch.ts';
import { historyInStore } from './history.ts';
import { identityInStore } from './identity.ts';
import { layoutsInStore } from './layouts.ts';
import { listInStore } from './list.ts';
import { oldRecordsInStore } from './old-records.ts';
import { openingInStore } from './opening.ts';
import { outboxInStore } from './outbox.ts';
import { overviewInStore } from './overview.ts';
import { processesInStore } from './processes.ts';
import { recordsInStore } from './records.ts';
import { retentionInStore } from './retention.ts';
import { rolloutInStore } from './rollout.ts';
import { shadowsInStore } from './shadows.ts';
import { sharedFactsInStore } from './shared-facts.ts';
import { sidesInStore } from './sides.ts';
import { vitalsInStore } from './vitals.ts';

export type { StoreUnderTest } from './bench.ts';

const PARTS: readonly ((bench: StoreBench) => void)[] = [
  identityInStore,
  createInStore,
  commitInStore,
  claimsInStore,
  acceptInStore,
  vitalsInStore,
  outboxInStore,
  auditInStore,
  listInStore,
  rolloutInStore,
  sidesInStore,
  shadowsInStore,
  epochInStore,
  historyInStore,
  processesInStore,
  sharedFactsInStore,
  overviewInStore,
  recordsInStore,
  oldRecordsInStore,
  retentionInStore,
  layoutsInStore,
  openingInStore,
];

export function ledgerContract(name: string, start: () => Promise<StoreUnderTest>): void {
  contractOfEveryLedger(vitest, name, async () => asLedger(await start()));
  vitest.describe(`ledger on ${name}`, () => {
    const bench = setUpStore(start);
    for (const part of PARTS) part(bench);
  });
}
