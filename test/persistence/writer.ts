/** A process of the tests: writes to a ledger file until it is killed, and tells each acknowledged step. */
import { writeSync } from 'node:fs';
import { openLedger } from '../../persistence/index.ts';
import { acceptStep, NAMESPACE, newOperation, step } from './steps.ts';

const [address = ''] = process.argv.slice(2);
const ledger = await openLedger(address, { namespace: NAMESPACE });
const tell = (line: string): void => void writeSync(1, `${line}\n`);

tell('ready');
async function write(): Promise<never> {
  for (;;) {
    const operationId = newOperation(ledger);
    await ledger.create(step(operationId), null);
    tell(`${operationId} 1`);
    await ledger.commit({ ...step(operationId), expectedRevision: '1' });
    tell(`${operationId} 2`);
    await ledger.acceptTerminal(acceptStep(operationId, '2'));
    tell(`${operationId} 3`);
  }
}
await Promise.all([write(), write(), write()]);
