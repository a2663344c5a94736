/** Steps as the executor sends them, of call nodes that no other test of the run has. */
import type {
  AcceptFields,
  CreateAnswer,
  OperationLedger,
  Step,
  StoredRecord,
} from '../../../machines/operation-ledger.ts';

/** The namespace of every ledger that is opened without another. */
export const NAMESPACE = 'test';

export type StepChange = Partial<Step>;

let count = 0;
/** A name that no other test of this run has. */
export const unique = (prefix: string): string => `${prefix}-${process.pid}-${count++}`;

export const fields: AcceptFields = {
  callNode: 'node',
  requestDigest: 'request',
  taskId: 'task',
  toolVersion: '1',
  executionEpoch: '1',
  cancelGeneration: '0',
  terminalState: 'completed',
  resultDigest: 'result',
};

export function newOperation(ledger: OperationLedger, callNodeId = unique('node')): string {
  return ledger.operationIdOf({ namespace: NAMESPACE, principal: 'alice', callNodeId });
}

export function step(operationId: string, change: StepChange = {}): Step {
  return {
    operationId,
    commandId: unique('command'),
    snapshot: '{"value":"WORKING"}',
    state: 'WORKING',
    fields,
    scope: 'endpoint:e',
    dueAt: 1000,
    payloads: [],
    history: { at: 1, event: 'e', from: 'A', to: 'B', executor: 'x' },
    ...change,
  };
}

export function acceptStep(operationId: string, expectedRevision: string, change: StepChange = {}) {
  const receipt = JSON.stringify({ operationId, of: expectedRevision });
  return {
    ...step(operationId, { state: 'ACCEPTED', dueAt: null, ...change }),
    expectedRevision,
    expected: fields,
    receipt,
    receiptId: `r-${operationId}`,
  };
}

/** The record of a step that must have been taken. */
export function recordOf(answer: CreateAnswer): StoredRecord {
  if ('record' in answer) return answer.record;
  throw new Error(`nothing was created: ${JSON.stringify(answer)}`);
}
