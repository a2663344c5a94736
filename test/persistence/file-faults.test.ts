import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerIncompatible, LedgerUnavailable, type OperationLedger } from '../../machines/operation-ledger.ts';
import { openLedger } from '../../persistence/index.ts';
import { program } from '../kit/program.ts';
import { NAMESPACE, newOperation, step } from './steps.ts';

describe('ledger in a file that several processes share', () => {
  let dir: string;
  let path: string;
  const ledgers: OperationLedger[] = [];
  const children = new Set<ChildProcess>();

  const open = async (definiteWithinMs = 15_000, attemptMs = 5000): Promise<OperationLedger> => {
    const ledger = await openLedger(path, { namespace: NAMESPACE, definiteWithinMs, attemptMs });
    ledgers.push(ledger);
    return ledger;
  };

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'toolop-faults-'));
    path = join(dir, 'ledger.db');
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()));
    rmSync(dir, { recursive: true, force: true });
  });

  async function startWriter(acknowledged: Map<string, number>): Promise<ChildProcess> {
    const script = fileURLToPath(new URL('./writer.ts', import.meta.url));
    const child = spawn(process.execPath, [...program(script), path], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.add(child);
    const lines = createInterface({ input: child.stdout });
    const ready = once(lines, 'line');
    lines.on('line', (line) => {
      const [operationId, revision] = line.split(' ');
      if (operationId && revision) acknowledged.set(operationId, Number(revision));
    });
    await ready;
    return child;
  }

  it('loses nothing acknowledged when writers are killed', async () => {
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < 2; round++) {
      const writers = await Promise.all([1, 2, 3].map(() => startWriter(acknowledged)));
      const begun = acknowledged.size;
      await expect.poll(() => acknowledged.size, { timeout: 10_000 }).toBeGreaterThan(begun + 16);
      for (const writer of writers) {
        writer.kill('SIGKILL');
        await once(writer, 'close');
      }
    }
    const ledger = await open();
    await Promise.all(
      [...acknowledged].map(async ([operationId, revision]) => {
        const record = await ledger.load(operationId);
        expect(Number(record?.revision ?? 0)).toBeGreaterThanOrEqual(revision);
        expect((await ledger.readHistory(operationId)).length).toBe(Number(record?.revision));
      }),
    );
    expect(await ledger.audit()).toEqual([]);
  }, 60_000);

  it('nudges over the border of a process', async () => {
    const ledger = await open();
    const seen = new Set<string>();
    const stop = ledger.onChange((operationId) => seen.add(operationId));
    await startWriter(new Map());
    await expect.poll(() => seen.size, { timeout: 10_000 }).toBeGreaterThan(0);
    stop();
  });

  it('waits for whoever holds the file without stopping this process, then says so, and recovers', async () => {
    const ledger = await open(300, 100);
    const holder = new Database(path);
    holder.exec('BEGIN IMMEDIATE');
    const operationId = newOperation(ledger);
    const first = step(operationId);
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    await expect(ledger.create(first, null)).rejects.toThrow(LedgerUnavailable);
    await expect(ledger.create(first, null)).rejects.toThrow(/ledger\.db.*other processes kept it locked/);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
    expect(await ledger.load(operationId)).toBeNull();
    holder.exec('ROLLBACK');
    holder.close();
    expect(await ledger.create(first, null)).toMatchObject({ kind: 'created' });
  });

  it('leaves files of others and of newer versions untouched', async () => {
    writeFileSync(path, 'this is a diary and no database at all, as anybody can see from its first page');
    await expect(open()).rejects.toThrow(LedgerIncompatible);
    await expect(open()).rejects.toThrow(/not a ledger file.*untouched/);

    path = join(dir, 'foreign.db');
    const foreign = new Database(path);
    foreign.exec('CREATE TABLE diary (page TEXT)');
    foreign.close();
    await expect(open()).rejects.toThrow(/another program's database.*untouched/);

    path = join(dir, 'newer.db');
    await (await open()).close();
    const newer = new Database(path);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    await expect(open()).rejects.toThrow(/newer version.*tables 99.*untouched/);
  });

  it('says where it cannot be', async () => {
    writeFileSync(path, '');
    const below = join(path, 'below', 'ledger.db');
    await expect(openLedger(below, { namespace: NAMESPACE })).rejects.toThrow(LedgerUnavailable);
    await expect(openLedger(below, { namespace: NAMESPACE })).rejects.toThrow(/no directory/);
    await expect(openLedger(dir, { namespace: NAMESPACE })).rejects.toThrow(/cannot be opened/);
  });

  it('answers what was under way when it is closed, and nothing afterwards', async () => {
    const ledger = await open(200);
    // The first step of a ledger looks at its layout before.
    await ledger.create(step(newOperation(ledger)), null);
    const operationId = newOperation(ledger);
    const created = ledger.create(step(operationId), null).catch((error: unknown) => error);
    await Promise.resolve();
    await ledger.close();
    const answer = await created;
    if (answer instanceof Error) expect(answer).toBeInstanceOf(LedgerUnavailable);
    await expect(ledger.load(operationId)).rejects.toThrow(LedgerUnavailable);
    expect(await (await open()).load(operationId)).toMatchObject({ revision: '1' });
  });
});
