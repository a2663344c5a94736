import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerIncompatible, type OperationLedger } from '../../machines/operation-ledger.ts';
import { openLedger } from '../../persistence/index.ts';
import { NAMESPACE, newOperation, step } from './steps.ts';

describe('what was seen of a history, in a file', () => {
  let dir: string;
  const ledgers: OperationLedger[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'toolop-history-'));
  });
  afterEach(async () => {
    await Promise.all(ledgers.splice(0).map((each) => each.close()));
    rmSync(dir, { recursive: true, force: true });
  });
  const open = async (name = 'ledger.db', historyFile = join(dir, 'deep', 'history.json'), namespace = NAMESPACE) => {
    const ledger = await openLedger(join(dir, name), { namespace, historyFile });
    ledgers.push(ledger);
    return ledger;
  };
  const write = (ledger: OperationLedger) => ledger.create(step(newOperation(ledger)), null);

  it('B4: a process that starts again notices that the ledger is an older one', async () => {
    const before = await open();
    await write(before);
    await before.close();
    rmSync(join(dir, 'ledger.db'));
    const after = await open();
    await expect(write(after)).rejects.toMatchObject({
      name: 'LedgerRegressed',
      seen: { epoch: 1, number: 1 },
      shown: { epoch: 1, number: 0 },
    });
    await after.acknowledgeRegress('operator', ['p00']);
    expect(await write(after)).toMatchObject({ kind: 'created' });
  });

  it('is written while the process runs: a kill forgets little', async () => {
    const ledger = await open();
    await write(ledger);
    await expect.poll(() => readFileSync(join(dir, 'deep', 'history.json'), 'utf8')).toContain('"p00":[1,1]');
  });

  it('is shared by ledgers and by processes, and of two marks the newer one stays', async () => {
    const [one, two] = [await open(), await open()];
    const other = await open('other.db');
    await write(one);
    await write(two);
    await write(other);
    await two.close();
    // It saw less, and writes later.
    await one.close();
    await other.close();
    const { ledgers: kept } = JSON.parse(readFileSync(join(dir, 'deep', 'history.json'), 'utf8'));
    expect(kept).toEqual({
      [`${join(dir, 'ledger.db')} ${NAMESPACE}`]: { p00: [1, 2] },
      [`${join(dir, 'other.db')} ${NAMESPACE}`]: { p00: [1, 1] },
    });
  });

  it.each(['', 'no json', '{"version":2,"ledgers":{}}', '{"version":1,"ledgers":{"a":{"p00":[0,-1]}}}', '[]'])(
    'leaves a file alone that is none of its own: %s',
    async (text) => {
      const file = join(dir, 'foreign');
      writeFileSync(file, text);
      const opened = open('ledger.db', file);
      await expect(opened).rejects.toThrow(LedgerIncompatible);
      await expect(opened).rejects.toThrow(/no history file.*untouched/);
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  it('says where it cannot be written', async () => {
    writeFileSync(join(dir, 'file'), '');
    await expect(open('ledger.db', join(dir, 'file', 'history.json'))).rejects.toThrow(/cannot be (read|written)/);
    mkdirSync(join(dir, 'directory'));
    await expect(open('ledger.db', join(dir, 'directory'))).rejects.toThrow(/cannot be read/);
  });

  it('is not made for a ledger that cannot be opened', async () => {
    const historyFile = join(dir, 'deep', 'history.json');
    await expect(
      openLedger('redis://127.0.0.1:1', { namespace: NAMESPACE, historyFile, openWithinMs: 50 }),
    ).rejects.toThrow();
    await expect(openLedger('redis+cluster://', { namespace: NAMESPACE, historyFile })).rejects.toThrow(RangeError);
    expect(existsSync(historyFile)).toBe(false);
  });

  it('is not made where none is asked for', async () => {
    const ledger = await openLedger(join(dir, 'ledger.db'), { namespace: NAMESPACE });
    await write(ledger);
    await ledger.close();
    expect(existsSync(join(dir, 'deep'))).toBe(false);
  });
});
