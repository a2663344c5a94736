/**
 * The ledger contract as a suite of tests: what every `OperationLedger` has to do, seen only through that interface. Write a ledger
 * on a store of your own, run this, and `Executor` may use it.
 *
 * The topics and the rows of the brief that they prove: where an operation stands (B3); creating (B3, B4, G2); committing (B5, F2,
 * F4); what is due and who has it (B8); accepting (B11, B12); the outbox (B12, G6); what has to be watched (G5, G6); the switches:
 * adapters (R4), the execution epoch and creating (R3, F8); rollout rules and sides (R2); shadows (R1); histories that went
 * backwards (B4, G2); processes; task ids (F9) and rates (B8, G3, G4); retention (B4, B12) and layouts (B3).
 *
 * What it cannot see is yours to test: what a kill and a power cut lose, what the audit finds in a store that somebody changed, a
 * history that goes backwards because an older copy was restored, migrations.
 */
import { acceptTopic } from './accept.ts';
import { auditTopic } from './audit.ts';
import { type Bench, type LedgerUnderTest, setUp } from './bench.ts';
import { commitTopic } from './commit.ts';
import { createTopic } from './create.ts';
import { creatingTopic } from './creating.ts';
import { dueTopic } from './due.ts';
import { epochTopic } from './epoch.ts';
import type { TestFramework } from './framework.ts';
import { historyTopic } from './history.ts';
import { identityTopic } from './identity.ts';
import { layoutsTopic } from './layouts.ts';
import { leasesTopic } from './leases.ts';
import { listTopic } from './list.ts';
import { openingTopic } from './opening.ts';
import { outboxTopic } from './outbox.ts';
import { overviewTopic } from './overview.ts';
import { processesTopic } from './processes.ts';
import { retentionTopic } from './retention.ts';
import { rolloutTopic } from './rollout.ts';
import { shadowsTopic } from './shadows.ts';
import { sharedFactsTopic } from './shared-facts.ts';
import { sidesTopic } from './sides.ts';
import { switchesTopic } from './switches.ts';
import { vitalsTopic } from './vitals.ts';

export type { LedgerUnderTest, LedgerUnderTestOptions } from './bench.ts';
export type { Checks, Expect, Expectation, TestFramework } from './framework.ts';

const TOPICS: readonly ((bench: Bench) => void)[] = [
  identityTopic,
  createTopic,
  commitTopic,
  dueTopic,
  leasesTopic,
  acceptTopic,
  vitalsTopic,
  outboxTopic,
  auditTopic,
  listTopic,
  overviewTopic,
  switchesTopic,
  rolloutTopic,
  sidesTopic,
  shadowsTopic,
  epochTopic,
  creatingTopic,
  historyTopic,
  processesTopic,
  sharedFactsTopic,
  retentionTopic,
  layoutsTopic,
  openingTopic,
];

/**
 * Registers the suite with a test runner, under the name `ledger on <name>`. Every test begins with an empty store and a clock
 * that stands still.
 *
 * ```ts
 * import * as vitest from 'vitest';
 * ledgerContract(vitest, 'Postgres', async () => {
 *   const database = await startPostgres();
 *   return {
 *     open: (options) => openMyLedger(database.url, options),
 *     clear: () => database.query('DROP SCHEMA toolop CASCADE'),
 *     stop: () => database.stop(),
 *   };
 * });
 * ```
 * @param framework vitest's or jest's functions
 * @param name of the store
 * @param start called once, before the first test
 */
export function ledgerContract(framework: TestFramework, name: string, start: () => Promise<LedgerUnderTest>): void {
  framework.describe(`ledger on ${name}`, () => {
    const bench = setUp(framework, start);
    for (const topic of TOPICS) topic(bench);
  });
}
