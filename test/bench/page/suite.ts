/** The page on a large ledger: until something is shown, until everything is, what a commit takes to be seen, and what it holds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationLedger } from '../../../machines/index.ts';
import { openLedger } from '../../../persistence/index.ts';
import { NAMESPACE } from '../answering.ts';
import { Child } from '../child.ts';
import { Server } from '../server.ts';
import { type RunFigures, sideBySide } from '../side-by-side.ts';
import { median } from '../statistics.ts';
import type { Bench, Measurement, SuiteResult } from '../suite.ts';
import { sampleOf, touch, writeAlike } from '../waiting/records.ts';
import { writtenByAnExecutor } from '../waiting/written.ts';
import type { SiteOrders } from './site.ts';
import { Visitor } from './visitor.ts';

const QUICK_OPERATIONS = 1_000;
/** How many are written at once. */
const LINES = 64;
/** Between two visits while the ledger is read, ms. */
const VISIT_EVERY_MS = 200;
const UPDATES = 20;

export async function pageSuite(bench: Bench): Promise<SuiteResult> {
  const server = await Server.start('off');
  const directory = mkdtempSync(join(tmpdir(), 'toolop-bench-'));
  try {
    const places = { Redis: server.url, 'a file': join(directory, 'ledger.db') };
    const measurements: Measurement[] = [];
    for (const [where, url] of Object.entries(places)) measurements.push(await measured(bench, where, url));
    return {
      measurements,
      notes: [
        'first rows: from the request for the page, as soon as there is one, to the first rows; complete: until the list says so',
        `visit: another visitor every ${VISIT_EVERY_MS} ms meanwhile, the same`,
        'update: from the acknowledged commit of another process to the view that shows it; heap: of the whole process, and what a row adds',
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await server.stop();
  }
}

async function measured(bench: Bench, where: string, url: string): Promise<Measurement> {
  const operations = bench.quick ? QUICK_OPERATIONS : bench.operations;
  const sampleId = await writtenByAnExecutor(url);
  const ledger = await openLedger(url, { namespace: NAMESPACE });
  try {
    const operationIds = await fill(bench, ledger, sampleId, operations, where);
    const { page: figures } = await sideBySide(['page'], bench, (_, run) => {
      bench.progress(`the page on ${where}, run ${run} of ${bench.runs}`);
      return oneRun(ledger, url, operationIds);
    });
    return { what: `${operations.toLocaleString('en')} on ${where}`, who: 'ours', figures };
  } finally {
    await ledger.close();
  }
}

async function fill(
  bench: Bench,
  ledger: OperationLedger,
  sampleId: string,
  operations: number,
  where: string,
): Promise<readonly string[]> {
  const sample = await sampleOf(ledger, sampleId);
  const operationIds = [sampleId];
  let next = 1;
  const line = async () => {
    while (next < operations) {
      bench.signal.throwIfAborted();
      const nth = next++;
      operationIds.push(await writeAlike(ledger, sample, nth));
      if (nth % 5_000 === 0) bench.progress(`${nth.toLocaleString('en')} written on ${where}`);
    }
  };
  await Promise.all(Array.from({ length: LINES }, line));
  return operationIds;
}

async function oneRun(ledger: OperationLedger, url: string, operationIds: readonly string[]): Promise<RunFigures> {
  const child = await Child.start<SiteOrders>('./page/site.ts');
  try {
    const page = await child.ask('open', { url });
    const began = performance.now();
    const visitor = await Visitor.come(page);
    await visitor.sees(({ rows }) => rows.length > 0);
    const firstMs = performance.now() - began;
    const visits = new AbortController();
    const visiting = visitAgainAndAgain(page, visits.signal);
    const view = await visitor.sees(({ progress }) => progress === 'complete');
    const completeMs = performance.now() - began;
    if (view.operations !== operationIds.length) throw new Error(`the page shows ${view.operations} operations`);
    visits.abort();
    const visitMs = await visiting;
    const updates = await updateTimes(ledger, visitor, operationIds);
    await visitor.leave();
    const heap = await child.ask('memory', {});
    await child.ask('close', {});
    const emptied = await child.ask('memory', {});
    return {
      'first rows ms': firstMs,
      'longest visit ms': Math.max(...visitMs),
      'complete ms': completeMs,
      'update p50 ms': median(updates),
      'longest update ms': Math.max(...updates),
      'heap MB': heap / 1e6,
      'B/row': (heap - emptied) / operationIds.length,
    };
  } finally {
    await child.kill();
  }
}

async function visitAgainAndAgain(url: string, signal: AbortSignal): Promise<readonly number[]> {
  const took: number[] = [];
  do {
    const began = performance.now();
    const visitor = await Visitor.come(url);
    await visitor.sees(({ rows }) => rows.length > 0);
    took.push(performance.now() - began);
    await visitor.leave();
    await sleep(VISIT_EVERY_MS, undefined, { signal }).catch(() => undefined);
  } while (!signal.aborted);
  return took;
}

async function updateTimes(
  ledger: OperationLedger,
  visitor: Visitor,
  operationIds: readonly string[],
): Promise<readonly number[]> {
  const took: number[] = [];
  for (let nth = 0; nth < UPDATES; nth++) {
    const operationId = operationIds[Math.floor((operationIds.length * nth) / UPDATES)] as string;
    const updatedAt = await touch(ledger, operationId);
    const began = performance.now();
    await visitor.sees(({ rows }) =>
      rows.some((row) => row.operationId === operationId && row.updatedAt === updatedAt),
    );
    took.push(performance.now() - began);
  }
  return took;
}
