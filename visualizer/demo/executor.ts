/**
 * An executor in a process of its own, to be killed: `executor.ts LEDGER URL NODE`. Submits one call, and writes each
 * committed state as a line of JSON.
 */
import { openDemo } from './open.ts';
import { callOf } from './scenarios.ts';
import { stateOf } from './show.ts';

const [, , ledgerPath = '', url = '', node = ''] = process.argv;
const { executor } = await openDemo(ledgerPath);
const answer = await executor.submit(callOf(node, { kind: 'http', url }, { topic: 'kill -9' }));
if (answer.kind === 'refused') throw new Error(answer.reason);
for await (const opened of executor.follow(answer.operationId)) {
  process.stdout.write(`${JSON.stringify(stateOf(opened))}\n`);
}
