import { type Aip151Options, aip151, type MethodDescriptor } from '../../../adapters/aip-151/index.ts';
import { type Json, sha256 } from '../../../machines/digest.ts';
import type {
  Endpoint,
  ProtocolSession,
  ResumeState,
  Submission,
  SubmitOutcome,
  TaskRef,
} from '../../../machines/operation-protocol.ts';

export const KEYED = { field: 'requestId', retentionMs: 600_000 } as const;
/** The method of most tests, as `report`; and the same with a request id, as `keyed`. */
export const METHODS = {
  report: { path: '/v1/{parent=projects/*}/reports:generate' },
  keyed: { path: '/v1/{parent=projects/*}/reports:generate', requestId: KEYED },
} satisfies Record<string, MethodDescriptor>;
export const ARGS = { parent: 'projects/tides', depth: 3 } as const;

/** Short waits, so that no test is slow because of a default. */
export function connect(
  endpoint: Endpoint,
  options: Partial<Aip151Options> = {},
  resume?: ResumeState,
): Promise<ProtocolSession> {
  return aip151({ methods: METHODS, requestTimeoutMs: 2_000, ...options }).connect(endpoint, resume);
}

let serial = 0;
export function submission(tool = 'report', args: Json = ARGS): Submission {
  serial += 1;
  return {
    tool,
    arguments: args,
    submissionKey: sha256(`key ${process.pid} ${serial}`),
    attempt: 1,
    requestDigest: 'digest',
    principal: 'somebody',
    ttlMs: null,
  };
}

export interface Sent {
  readonly outcome: SubmitOutcome;
  readonly late: SubmitOutcome[];
  readonly asked: () => number;
}

export async function send(
  session: ProtocolSession,
  what: Submission = submission(),
  options: { timeoutMs?: number; mayWrite?: () => boolean; signal?: AbortSignal } = {},
): Promise<Sent> {
  const late: SubmitOutcome[] = [];
  let asked = 0;
  const outcome = await session.submit(what, {
    timeoutMs: options.timeoutMs ?? 3_000,
    mayWrite: () => {
      asked += 1;
      return options.mayWrite?.() ?? true;
    },
    late: (fact) => void late.push(fact),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return { outcome, late, asked: () => asked };
}

/** Starts an operation and gives its name as the executor knows it. */
export async function started(session: ProtocolSession, tool = 'report'): Promise<TaskRef> {
  const { outcome } = await send(session, submission(tool));
  if (outcome.kind !== 'acknowledged') throw new Error(`no operation: ${JSON.stringify(outcome)}`);
  return { taskId: outcome.task.taskId, taskCreatedAt: null, tool };
}
