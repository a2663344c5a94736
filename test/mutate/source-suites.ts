/**
 * What mutants of sources are killed by. For a script the tests of its verb come first, on the embedded file, which starts in
 * no time; then the whole contract, there and on Redis.
 */
import { basename } from 'node:path';
import type { Suite } from './copy.ts';

const LEDGER = 'test/persistence/ledger.test.ts';
const WHOLE: readonly Suite[] = [
  { file: LEDGER, tests: 'ledger on a file' },
  { file: LEDGER, tests: 'ledger on Redis' },
];
/** Parts of the contract by script; another script has the whole. */
const PARTS: Readonly<Record<string, string>> = {
  accept: '(accept|shadows|old records)',
  'record-form.ts': 'accept',
  acknowledge: 'history',
  prelude: '(history|records|old records)',
  'ack-ready': '(outbox|vitals)',
  'lease-ready': '(outbox|vitals)',
  audit: 'audit',
  claim: 'leases',
  release: 'leases',
  renew: 'leases',
  commit: '(commit|leases|history|vitals)',
  'note-refused': 'commit',
  create: '(create|leases|sides)',
  load: 'create',
  open: '(opening|shadows)',
  'own-task': 'shared facts',
  permit: 'shared facts',
  replace: 'shadows',
  rollout: '(rollout|history)',
  side: '(sides|history)',
  aged: 'retention',
  history: '(history|commit|records)',
  'index-settled': 'layouts',
  list: '(list|overview|retention)',
  rows: '(overview|old records)',
  'purge-receipts': 'retention',
  'purge-records': '(retention|old records)',
  'purge-tombstones': 'retention',
  'old-records': 'old records',
  'pack-records': 'old records',
  payload: 'create',
  'raise-meta': 'layouts',
  waiting: 'processes',
  vitals: 'vitals',
  certain: 'vitals',
};

export function suitesOfScript(file: string): readonly Suite[] {
  const part = PARTS[basename(file, '.lua')];
  return part === undefined ? WHOLE : [{ file: LEDGER, tests: `ledger on a file ${part} ` }, ...WHOLE];
}
/** Everything that judges scripts. */
export const SCRIPTS_SUITES = WHOLE;
export const ORDERS_SUITE: Suite = { file: 'test/mutate/commit-first.test.ts', tests: '' };

/** The test of this very order, then the others. */
export function suitesOfOrder(name: string): readonly Suite[] {
  const effect = name.slice(0, name.indexOf(' before '));
  return [{ file: ORDERS_SUITE.file, tests: `${effect} once ` }, ORDERS_SUITE];
}
