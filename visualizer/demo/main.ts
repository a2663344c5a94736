/** `npm run demo`: four real calls of a real MCP server, each to its one receipt. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDemo } from './open.ts';
import { cancelled, type Demo, killedExecutor, must, scriptedHuman, toItsEnd, withInput } from './scenarios.ts';
import { type Finished, receiptTable, say } from './show.ts';

const scenarios: readonly [title: string, run: (demo: Demo) => Promise<Finished>, expected: Finished['state']][] = [
  ['1  A call to its end (stdio)', toItsEnd, 'ACCEPTED'],
  ['2  An ambiguous call with its input round (stdio)', withInput, 'ACCEPTED'],
  ['3  A cancelled call (stdio)', cancelled, 'CANCELLED_ACCEPTED'],
  ['4  An executor killed mid-way, a second one finishes (Streamable HTTP)', killedExecutor, 'ACCEPTED'],
];

const dir = mkdtempSync(join(tmpdir(), 'toolop-demo-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
const ledgerPath = join(dir, 'ledger.db');
const { ledger, executor } = await openDemo(ledgerPath, scriptedHuman);
try {
  const all: Finished[] = [];
  for (const [title, run, expected] of scenarios) {
    say(title);
    const result = await run({ executor, ledgerPath, dir });
    check(result, expected);
    all.push(result);
    say();
  }
  for (const line of receiptTable(all)) say(line);
  const executors = new Set(
    (await ledger.readHistory(executor.operationIdOf({ callNodeId: 'demo:killed:1' }))).map((step) => step.executor),
  );
  must(executors.size === 2, `call 4 was to be served by two executors, not by ${executors.size}`);
  const findings = await ledger.audit();
  must(findings.length === 0, `the audit found: ${findings.map(({ problem }) => problem).join('; ')}`);
  say('\nFour calls, four receipts, and the audit of the ledger found nothing.');
} catch (error) {
  process.stderr.write(`\nThe demo failed: ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await executor.stop();
  await ledger.close();
}

function check({ title, receipt, state, calls }: Finished, expected: string): void {
  const wantCancelled = expected === 'CANCELLED_ACCEPTED';
  must(state === expected, `${title}: it ended in ${state}, not in ${expected}`);
  must(receipt.outcome === (wantCancelled ? 'cancelled' : 'completed'), `${title}: the outcome is ${receipt.outcome}`);
  must(receipt.status === receipt.outcome, `${title}: receipt and server disagree`);
  must(receipt.released !== wantCancelled, `${title}: what was released is not what should be`);
  must(receipt.effectReconciliationRequired === wantCancelled, `${title}: the effect note is wrong (B10)`);
  must(calls === 1, `${title}: the server saw ${calls} tools/call`);
}
