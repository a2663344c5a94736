import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLedger } from '../../persistence/index.ts';
import { DUMPS, load } from '../fixtures/load.ts';
import { toolop } from './command.ts';

const dir = mkdtempSync(join(tmpdir(), 'toolop-cli-'));
const address = join(dir, 'ledger.db');
const at = ['--ledger', address, '--namespace', 'fixture', '--json'];
const dump = DUMPS.find(({ name }) => name === '0.1.0/over')?.dump;

beforeAll(() => {
  if (!dump) throw new Error('there is no such fixture');
  return load(address, dump);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('toolop on the ledger of an earlier release', { timeout: 120_000 }, () => {
  it('B3: tells the layout, migrates it, and purges what was consumed; what is purged is told by its tombstone', async () => {
    const [before, early] = await Promise.all([
      toolop(['migrate', '--status', ...at]),
      toolop(['purge', '--older-than', '0s', ...at]),
    ]);
    expect(before.last).toMatchObject({
      ...{ layout: 1, newest: 3, writes: 1 },
      migrations: [
        { to: 2, safeWithOlder: true },
        { to: 3, safeWithOlder: false },
      ],
    });
    expect(early.last).toMatchObject({ type: 'purge', records: { count: 0 } });

    const migrated = await toolop(['migrate', ...at]);
    expect([migrated.code, migrated.last]).toEqual([0, expect.objectContaining({ layout: 3 })]);
    const dry = await toolop(['purge', '--dry-run', '--older-than', '0s', ...at]);
    expect(dry.last).toMatchObject({ dryRun: true, records: { count: 4 }, receipts: { count: 0 }, outbox: 5 });
    const purged = await toolop(['purge', '--older-than', '0s', ...at]);
    expect({ ...purged.last, dryRun: true }).toEqual(dry.last);

    const [shown, cancelled, attached] = await Promise.all([
      toolop(['show', 'consumed/accepted', ...at]),
      toolop(['cancel', 'consumed/accepted', ...at]),
      toolop(['attach', 'consumed/cancelledAccepted', ...at]),
    ]);
    expect([shown.code, shown.last]).toEqual([
      0,
      expect.objectContaining({ type: 'purged', receipt: expect.objectContaining({ outcome: 'completed' }) }),
    ]);
    expect([cancelled.code, cancelled.stdout]).toEqual([2, expect.stringContaining('this call was made')]);
    expect(attached.code).toBe(4);

    const receipts = await toolop(['purge', '--older-than', '0s', '--receipts-older-than', '0s', ...at]);
    expect(receipts.last).toMatchObject({ receipts: { count: 4 }, tombstones: { count: 0 } });
    const gone = await toolop(['show', 'consumed/accepted', ...at]);
    expect([gone.code, gone.last]).toEqual([5, expect.objectContaining({ receipt: null })]);
    const ledger = await openLedger(address, { namespace: 'fixture' });
    expect(await ledger.audit()).toEqual([]);
    await ledger.close();
  });

  it('R3: what is to be written is raised only when it is told so, and never beyond what this release reads', async () => {
    const raised = await toolop(['migrate', '--writes', '2', ...at]);
    expect([raised.code, raised.last]).toEqual([0, expect.objectContaining({ writes: 2, reads: 2 })]);
    const [back, beyond, both] = await Promise.all([
      toolop(['migrate', '--writes', '1', ...at]),
      toolop(['migrate', '--writes', '3', ...at]),
      toolop(['migrate', '--writes', '2', '--again', ...at]),
    ]);
    expect([back.code, back.stdout]).toEqual([2, expect.stringContaining('never goes back')]);
    expect([beyond.code, beyond.stdout]).toEqual([2, expect.stringContaining('reads records up to version 2')]);
    expect([both.code, both.stdout]).toEqual([2, expect.stringContaining('give one of')]);
  });

  it('an age that is none, or receipts that go before their records, are a matter of usage', async () => {
    const [wrong, shorter] = await Promise.all([
      toolop(['purge', '--older-than', '30', ...at]),
      toolop(['purge', '--older-than', '30d', '--receipts-older-than', '1d', ...at]),
    ]);
    expect([wrong.code, wrong.stdout]).toEqual([2, expect.stringContaining('as 30d')]);
    expect([shorter.code, shorter.stdout]).toEqual([2, expect.stringContaining('at least as long as their records')]);
  });
});
