/** Ledger, outbox and server against the model, after each step. */
import type { OperationSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import type { System } from '../system/system.ts';
import { At, type World } from '../system/world.ts';
import { Divergence, wait } from './divergence.ts';
import { differs } from './likeness.ts';
import { type Theatre, taskOf } from './theatre.ts';

const TASK = ['none', 'working', 'input_required', 'completed', 'failed', 'cancelled'];

/** Throws a `Divergence` that says what differs. */
export async function compare(
  theatre: Theatre,
  system: System,
  operationId: string,
  real: OperationSnapshot | undefined,
  next: World,
): Promise<void> {
  if (!real) throw new Divergence('the record is gone');
  const model = system.record(next);
  const difference = differs(real, model.snapshot);
  if (difference !== null) throw new Divergence(difference);
  const receipt = await theatre.ledger.readReceipt(operationId);
  if ((receipt !== null) !== model.done) throw new Divergence('receipt and final state do not come together');
  if (receipt !== null) await compareOutbox(theatre, receipt, model.receipt?.outcome);
  if (!system.contract.atOnce && next[At.known] !== 0) await compareServer(theatre, TASK[next[At.task] as number]);
}

async function compareOutbox({ ledger }: Theatre, receipt: string, outcome: string | undefined): Promise<void> {
  const { outcome: said } = JSON.parse(receipt) as { outcome: string };
  if (said !== outcome) throw new Divergence(`the receipt says ${said}, the model ${outcome}`);
  const [finding] = await ledger.audit();
  if (finding) throw new Divergence(`outbox: ${finding.problem}`);
}

/** An answer on the wire is taken in a moment after it was sent. */
async function compareServer(theatre: Theatre, model: string | undefined): Promise<void> {
  let status = '';
  const isSo = async () => {
    status = (await taskOf(theatre)).status;
    return status === model;
  };
  await wait(isSo, () => `the task is ${status}, in the model ${model}`);
}
