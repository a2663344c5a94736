/** A protocol whose server is this process and answers at once: what is left is the executor and its ledger. */
import type { OperationProtocol, ProtocolSession, TaskView } from '../../machines/index.ts';
import { RESULT, WORKING_POLLS } from './job/contender.ts';

export interface Answering {
  readonly protocol: OperationProtocol;
  /** Tasks that were submitted, by the key of their submission. */
  readonly submissions: ReadonlyMap<string, number>;
}

export interface AnsweringOptions {
  /** Status reads that say "working" before one says "completed"; infinite: it never ends. */
  readonly workingPolls?: number;
  /** The interval that the server asks for, ms. */
  readonly pollIntervalMs?: number | null;
  /** Told of each status read; what it waits for, the answer waits for. */
  readonly onStatus?: (taskId: string) => void | Promise<void>;
}

/** Of the ledger, in every suite. */
export const NAMESPACE = 'bench';
/** The rate is asked for each request, as in production, and never in the way. */
export const FREE_RATE = { qps: 1_000_000, burst: 1_000_000 };
export const ENDPOINT = { kind: 'http', url: 'http://bench.invalid/mcp' } as const;

export function answering(options: AnsweringOptions = {}): Answering {
  const { workingPolls = WORKING_POLLS, pollIntervalMs = null, onStatus } = options;
  const asked = new Map<string, number>();
  const submissions = new Map<string, number>();
  const view = (taskId: string, status: TaskView['status']): TaskView => ({
    taskId,
    taskCreatedAt: '2026-01-01T00:00:00.000Z',
    status,
    statusMessage: null,
    pollIntervalMs,
    ttlMs: null,
    remainingTtlMs: null,
  });
  const session: ProtocolSession = {
    negotiate: async () => ({
      kind: 'supported',
      tool: { name: 'report', version: 'a'.repeat(64) },
      capabilities: {
        cancelSupported: true,
        cancelEvidence: 'terminal',
        lookup: 'closing',
        deduplicates: true,
        input: 'none',
        inputRedelivery: false,
      },
      session: { sessionId: null, protocolVersion: '2025-11-25' },
      keyRetentionMs: null,
    }),
    submit: async ({ submissionKey }) => {
      submissions.set(submissionKey, (submissions.get(submissionKey) ?? 0) + 1);
      const taskId = submissionKey.slice(0, 36);
      return { kind: 'acknowledged', task: view(taskId, 'working'), sessionId: null };
    },
    status: async ({ taskId }) => {
      await onStatus?.(taskId);
      const nth = (asked.get(taskId) ?? 0) + 1;
      if (nth <= workingPolls) asked.set(taskId, nth);
      else asked.delete(taskId);
      return { kind: 'status', task: view(taskId, nth <= workingPolls ? 'working' : 'completed') };
    },
    result: async () => ({ kind: 'result', payload: { kind: 'result', value: RESULT as never, isError: false } }),
    cancel: async ({ taskId }) => ({ kind: 'confirmed', task: view(taskId, 'cancelled') }),
    lookup: async () => ({ kind: 'unavailable', reason: 'nothing is lost here' }),
    openInput: () => {
      throw new Error('no questions here');
    },
    onGone: () => undefined,
    close: async () => undefined,
  };
  return { protocol: { id: 'bench-2025-11-25', connect: async () => session }, submissions };
}
