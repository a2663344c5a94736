import type {
  AcceptFields,
  CreateAnswer,
  OperationLedger,
  Step,
  StoredRecord,
} from '../../machines/operation-ledger.ts';

export const NAMESPACE = 'test';

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

export function step(operationId: string, change: Partial<Step> = {}): Step {
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

export function acceptStep(operationId: string, expectedRevision: string, change: Partial<Step> = {}) {
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

const LINES = { revision: 0, scope: 5, epoch: 6, receipt: 7 } as const;
/** A record with another line (prelude.lua). */
export const withLine =
  (name: keyof typeof LINES, value: string) =>
  (text: Buffer): Buffer => {
    const lines = text.toString('latin1').split('\n');
    lines[LINES[name]] = value;
    return Buffer.from(lines.join('\n'), 'latin1');
  };
