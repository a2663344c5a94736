/** A tool call, as a caller asks for it, and what it becomes: the first record of its call node. */
import { z } from 'zod';
import { canonicalJson, digestOf, sha256 } from '../digest.ts';
import type { Endpoint, Negotiation } from '../operation-protocol.ts';
import { type Policy, RECORD_SCHEMA, type ToolOperationContext } from '../tool-operation/context.ts';

/** One call instance (brief, top): the same node with the same request is the same operation, for ever. */
export interface ToolCall {
  /** Unique per call instance inside namespace and principal: put run and iteration in it. */
  readonly callNodeId: string;
  /** For whom the call is made: a part of what names its operation. Default `local`. */
  readonly principal?: string;
  /**
   * Must be reachable from here. Its credentials stay in this process; the record holds an id and, of HTTP, the bare URL.
   */
  readonly endpoint: Endpoint;
  /** The tool's name at the server, up to 512 characters. */
  readonly tool: string;
  /** JSON. With others, or another tool, under the same call node the call is refused. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Adapter id; default: the executor's first. */
  readonly protocol?: string;
  /** Retention that is asked of the server, ms. */
  readonly ttlMs?: number;
  /** Comes before the executor's, and is fixed in the record; ms. */
  readonly policy?: Partial<Policy>;
  /** The operator's word that the tool changes nothing outside (B10). */
  readonly effectFree?: boolean;
}

export const ToolCallLimits = z.object({
  callNodeId: z.string().min(1).max(512),
  principal: z.string().min(1).max(512).optional(),
  tool: z.string().min(1).max(512),
  arguments: z.record(z.string(), z.json()),
  ttlMs: z.number().int().positive().optional(),
  endpoint: z.union([
    z.object({
      kind: z.literal('http'),
      url: z.url({ protocol: /^https?$/, error: 'the endpoint is not an http(s) URL' }),
    }),
    z.object({ kind: z.literal('stdio'), command: z.string().min(1), args: z.array(z.string()) }),
  ]),
});

/** Defaults of the waiting, ms. A human gets an hour; a ten-minute tool gets an hour of patience. */
export const DEFAULT_POLICY: Policy = {
  pollIntervalMs: 2_000,
  minPollIntervalMs: 250,
  maxPollIntervalMs: 60_000,
  jitter: 0.1,
  maxBackoffMs: 30_000,
  waitBudgetMs: 3_600_000,
  lookupBudgetMs: 120_000,
  fetchBudgetMs: 300_000,
  cancelBudgetMs: 60_000,
  inputDeadlineMs: 3_600_000,
  parkedIntervalMs: 60_000,
};

/** What the ledger keeps of the request, and what its digest is taken over. */
export function requestOf(call: ToolCall): { readonly text: string; readonly digest: string } {
  const text = canonicalJson({ tool: call.tool, arguments: call.arguments });
  return { text, digest: sha256(text) };
}

/** Identifies the endpoint without its credentials. A stdio server exists once per process, so its id does too. */
export function endpointIdOf(endpoint: Endpoint, processId: string): string {
  return endpoint.kind === 'http'
    ? digestOf({ kind: 'http', url: publicUrl(endpoint.url) }).slice(0, 24)
    : digestOf({ kind: 'stdio', command: endpoint.command, args: endpoint.args, processId }).slice(0, 24);
}

/** A URL without what may be a credential: user, password, query, fragment. */
export function publicUrl(url: string): string {
  const parsed = new URL(url);
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

/** Who can serve a record: anybody with this endpoint's credentials, or this process only. */
export function scopeOf(endpoint: Endpoint, processId: string): string {
  return endpoint.kind === 'stdio' ? `process:${processId}` : `endpoint:${endpointIdOf(endpoint, processId)}`;
}

export function firstContext(options: {
  readonly call: ToolCall;
  readonly operationId: string;
  readonly namespace: string;
  readonly protocol: string;
  readonly processId: string;
  readonly executionEpoch: number;
  readonly negotiated: Extract<Negotiation, { kind: 'supported' }>;
  readonly policy: Policy;
  readonly now: number;
}): ToolOperationContext {
  const { call, negotiated, now } = options;
  const principal = call.principal ?? 'local';
  const request = requestOf(call);
  return {
    schema: RECORD_SCHEMA,
    operationId: options.operationId,
    namespace: options.namespace,
    principal,
    callNodeId: call.callNodeId,
    requestDigest: request.digest,
    tool: negotiated.tool,
    protocol: options.protocol,
    endpoint: {
      id: endpointIdOf(call.endpoint, options.processId),
      kind: call.endpoint.kind,
      url: call.endpoint.kind === 'http' ? publicUrl(call.endpoint.url) : null,
    },
    submissionKey: digestOf([options.namespace, principal, call.callNodeId, request.digest]),
    keyValidUntil: negotiated.keyRetentionMs === null ? null : now + negotiated.keyRetentionMs,
    capabilities: { ...negotiated.capabilities, effectFree: call.effectFree ?? false },
    policy: options.policy,
    session: negotiated.session,
    executionEpoch: options.executionEpoch,
    attempt: 1,
    closedThroughAttempt: 0,
    sentThroughAttempt: 0,
    sender: null,
    cancelGeneration: 0,
    pollCursor: 0,
    inputRound: 0,
    taskId: null,
    taskCreatedAt: null,
    serverStatus: null,
    statusMessage: null,
    pollIntervalMs: null,
    expiry: null,
    createdAt: now,
    updatedAt: now,
    dueAt: now,
    failures: 0,
    waitDeadline: now + options.policy.waitBudgetMs,
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
