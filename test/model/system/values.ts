/** The few concrete values of the closed model: one operation, its request, its results, its question. */

import { storedPayload } from '../../../machines/actor/facts.ts';
import { askedOnChannel, keyDigest } from '../../../machines/actor/question.ts';
import { canonicalJson, sha256 } from '../../../machines/digest.ts';
import type { InputRequest, InputRequests, Payload } from '../../../machines/operation-protocol.ts';
import {
  type Capabilities,
  RECORD_SCHEMA,
  type ToolOperationContext,
} from '../../../machines/tool-operation/context.ts';
import { CURSOR, FUTURE, NOW, ROUND } from './abstraction.ts';

export const OPERATION = 'op-1';
export const BORN = 'born';
export const QUESTION: InputRequest = { message: 'go on?', schema: { type: 'object' } };

/** The question with this number, where questions have keys. */
export const keyed = (number: number): InputRequests => ({ [`q${number}`]: QUESTION });
/** The number of the question that a record's round is about. */
export const numberOf = (context: ToolOperationContext): number =>
  [1, 2].find((number) => context.input?.keys.includes(keyDigest(`q${number}`))) ?? 0;

/** Payloads of the ledger, by digest. */
export const stored = new Map<string, string>();
function keep(text: string): string {
  const digest = sha256(text);
  stored.set(digest, text);
  return digest;
}
const request = keep(canonicalJson({ tool: 'work', arguments: {}, ttlMs: null }));
keep(askedOnChannel(QUESTION).payload?.text ?? '');
export const REPLY = keep(canonicalJson({ action: 'decline' }));

const payload = (word: string): Payload => ({ kind: 'result', value: { content: word }, isError: false });
/** What the tool made, and what only a liar would say that it made. */
export const RESULTS = { made: payload('made'), lied: payload('lied') } as const;
export const FAILURE: Payload = { kind: 'error', value: { code: -32000, message: 'broke' } };
const digestOfPayload = (of: Payload) => storedPayload(of).ref.digest;
export const DIGESTS = {
  made: digestOfPayload(RESULTS.made),
  lied: digestOfPayload(RESULTS.lied),
  failure: digestOfPayload(FAILURE),
} as const;

export function firstContext(capabilities: Capabilities): ToolOperationContext {
  return {
    schema: RECORD_SCHEMA,
    operationId: OPERATION,
    namespace: 'model',
    principal: 'somebody',
    callNodeId: 'node-1',
    requestDigest: request,
    tool: { name: 'work', version: sha256('version') },
    protocol: 'model',
    endpoint: { id: 'server', kind: 'http', url: null },
    submissionKey: sha256('key'),
    keyValidUntil: FUTURE,
    capabilities,
    policy: {
      pollIntervalMs: 1,
      minPollIntervalMs: 1,
      maxPollIntervalMs: 1,
      jitter: 0,
      maxBackoffMs: 1,
      waitBudgetMs: NOW,
      lookupBudgetMs: NOW,
      fetchBudgetMs: NOW,
      cancelBudgetMs: NOW,
      inputDeadlineMs: NOW,
      parkedIntervalMs: 1,
    },
    session: { sessionId: 'session', protocolVersion: 'model' },
    executionEpoch: 1,
    attempt: 1,
    closedThroughAttempt: 0,
    sentThroughAttempt: 0,
    sender: null,
    cancelGeneration: 0,
    pollCursor: CURSOR,
    inputRound: ROUND,
    taskId: null,
    taskCreatedAt: null,
    serverStatus: null,
    statusMessage: null,
    pollIntervalMs: null,
    expiry: null,
    createdAt: 0,
    updatedAt: 0,
    dueAt: NOW,
    failures: 0,
    waitDeadline: FUTURE,
    stepDeadline: null,
    pausedAt: null,
    cancel: null,
    input: null,
    answeredKeys: [],
    terminal: null,
    result: null,
    candidate: null,
    auditResult: null,
    outputVerdict: null,
    notSubmitted: null,
    missing: null,
    parked: null,
    givenUp: null,
    effectReconciliationRequired: false,
    inbox: [],
    audit: [],
  };
}
