/** What waiting costs, from a thousand operations to a million: bytes in Redis, the executor's memory, claiming what is due. */
import type { OperationLedger } from '../../../machines/index.ts';
import { openLedger } from '../../../persistence/index.ts';
import { NAMESPACE } from '../answering.ts';
import { Child } from '../child.ts';
import type { ExecutorOrders } from '../executor.ts';
import { Server } from '../server.ts';
import { sideBySide } from '../side-by-side.ts';
import { total } from '../statistics.ts';
import type { Bench, Measurement, SuiteResult } from '../suite.ts';
import { Copier } from './copies.ts';
import { bytesOf, type Sample, sampleOf, writeAlike } from './records.ts';
import { FAR_MS, writtenByAnExecutor } from './written.ts';

const LEVELS = [1_000, 10_000, 100_000, 1_000_000];
const QUICK_LEVELS = [200, 1_000];
const DUE = 64;
/** How far a copy may be from one of the executor, as a share. */
const TOLERANCE = 0.03;

export async function waitingSuite(bench: Bench): Promise<SuiteResult> {
  const server = await Server.start('off');
  try {
    const sampleId = await writtenByAnExecutor(server.url);
    const ledger = await openLedger(server.url, { namespace: NAMESPACE });
    try {
      const sample = await sampleOf(ledger, sampleId);
      const copier = await Copier.of(server.redis, ledger, sample);
      const { sampleBytes, copyBytes } = await compared(server, copier, sample);
      const measurements: Measurement[] = [];
      const emptied = await server.usedMemory();
      let written = 1;
      const told = (nth: number) => bench.progress(`${nth.toLocaleString('en')} written`);
      for (const level of bench.quick ? QUICK_LEVELS : LEVELS) {
        bench.signal.throwIfAborted();
        await copier.write(written, level, told);
        written = level;
        const bytes = ((await server.usedMemory()) - emptied) / (level - 1);
        const one = await measured(bench, server, ledger, sample, level, bytes);
        measurements.push(one);
        // The next level takes ten times as long: what is known by now is said now.
        bench.progress(`${one.what}: ${JSON.stringify(one.figures)}`);
      }
      return {
        measurements,
        notes: [
          `copies, inside of Redis, of one that the executor left in ${sample.record.state}: ${total(copyBytes)} B each in its keys (executor: ${total(sampleBytes)} B), by key ${JSON.stringify(copyBytes)}`,
          `claim: ${DUE} due among them, by the ledger's claimDue; idle: an executor that serves them all while nothing is due`,
        ],
      };
    } finally {
      await ledger.close();
    }
  } finally {
    await server.stop();
  }
}

/** Whether a copy takes what the original takes. */
async function compared(server: Server, copier: Copier, sample: Sample) {
  const copyId = await copier.write(0, 1, () => undefined);
  const [sampleBytes, copyBytes] = [
    await bytesOf(server.redis, sample.record.operationId),
    await bytesOf(server.redis, copyId),
  ];
  const off = Math.abs(total(copyBytes) / total(sampleBytes) - 1);
  if (!(off <= TOLERANCE)) {
    throw new Error(
      `the copy is not what the executor wrote: ${JSON.stringify(copyBytes)} against ${JSON.stringify(sampleBytes)}`,
    );
  }
  return { sampleBytes, copyBytes };
}

async function measured(
  bench: Bench,
  server: Server,
  ledger: OperationLedger,
  sample: Sample,
  level: number,
  bytes: number,
): Promise<Measurement> {
  const idle = await sideBySide(['executor'], bench, async (_, run) => {
    bench.progress(`${level.toLocaleString('en')} waiting: an idle executor, run ${run} of ${bench.runs}`);
    const executor = await Child.start<ExecutorOrders>('./executor.ts');
    try {
      await executor.ask('open', { url: server.url, policy: {}, pollIntervalMs: FAR_MS });
      const { sent, cpuMs, ms } = await executor.ask('measure', { ms: bench.quick ? 1_500 : 4_000 });
      const { heap, rss } = await executor.ask('memory', {});
      await executor.ask('close', {});
      return {
        'heap MB': heap / 1e6,
        'rss MB': rss / 1e6,
        'idle commands/s': (total(sent) * 1_000) / ms,
        'idle cpu %': (cpuMs / ms) * 100,
      };
    } finally {
      await executor.kill();
    }
  });
  const claim = await claimTimes(bench, ledger, sample, level);
  return {
    what: `${level.toLocaleString('en')} waiting`,
    who: 'ours',
    figures: { 'B each': [bytes], ...idle.executor, 'claim 64 ms': claim },
  };
}

/** Some are due, are claimed, and are due again for the next run. */
async function claimTimes(bench: Bench, ledger: OperationLedger, sample: Sample, level: number): Promise<number[]> {
  const past = (await ledger.now()) - 10_000;
  for (let nth = 0; nth < DUE; nth++) await writeAlike(ledger, sample, 10_000_000 + level * 100 + nth, past);
  const owner = 'x-bench';
  const times = await sideBySide(['claim'], bench, async (_, run) => {
    const began = performance.now();
    const { claimed } = await ledger.claimDue({
      owner,
      scopes: [sample.record.scope],
      limit: DUE,
      leaseMs: 60_000,
      executionEpoch: 1,
    });
    const ms = performance.now() - began;
    if (claimed.length !== DUE) throw new Error(`${claimed.length} of ${DUE} were claimed`);
    const again = run < bench.runs ? past : sample.record.dueAt;
    for (const { operationId, lease, revision } of claimed)
      await ledger.releaseLease(operationId, owner, lease?.epoch ?? '', again, revision);
    return { ms };
  });
  return times.claim.ms ?? [];
}
