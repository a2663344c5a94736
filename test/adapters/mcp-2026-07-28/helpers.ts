import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { mcp20260728 } from '../../../adapters/mcp-2026-07-28/index.ts';
import type { Json } from '../../../machines/digest.ts';
import type {
  Endpoint,
  ProtocolSession,
  StatusOutcome,
  Submission,
  TaskRef,
  TaskView,
} from '../../../machines/operation-protocol.ts';
import { freePort } from '../../kit/free-port.ts';
import {
  controls2026,
  type Fault,
  type Script,
  type ScriptedOptions,
  type ScriptedServer2026,
  startScriptedServer2026,
  stdioCommand2026,
} from '../../kit/servers/mcp-2026-07-28.ts';
import { eventually, submission as plainSubmission, send, sleep, timed } from '../mcp-2025-11-25/helpers.ts';

export { eventually, send, sleep, timed };

export type Transport = 'http' | 'stdio';
export const TRANSPORTS: readonly Transport[] = ['http', 'stdio'];

export function submission(tool: string, script: Script | null, more: Partial<Submission> = {}): Submission {
  return {
    ...plainSubmission(tool, null),
    ...(script === null ? {} : { arguments: { script: script as Json } }),
    ...more,
  };
}

/** Short waits, so that no test is slow because of a default. */
export function connect(
  endpoint: Endpoint,
  more: Parameters<typeof mcp20260728>[0] = {},
  resume?: Parameters<ReturnType<typeof mcp20260728>['connect']>[1],
): Promise<ProtocolSession> {
  const options = { connectTimeoutMs: 5_000, requestTimeoutMs: 3_000, resultTimeoutMs: 3_000, ...more };
  return mcp20260728(options).connect(endpoint, resume);
}

export interface Stage extends Pick<ScriptedServer2026, 'control' | 'log' | 'tasks'> {
  readonly endpoint: Endpoint;
  readonly session: ProtocolSession;
  fault(fault: Fault): Promise<void>;
}

/** A server for the tests of one `describe`, and a session for each, over HTTP or stdio. */
export function stage(transport: Transport, options: Partial<ScriptedOptions> = {}): Stage {
  let endpoint: Endpoint;
  let session: ProtocolSession;
  let controls: Pick<ScriptedServer2026, 'control' | 'log' | 'tasks'>;
  let stop: () => Promise<void> = async () => undefined;
  beforeAll(async () => {
    if (transport === 'http') {
      const server = await startScriptedServer2026(options);
      ({ endpoint, stop } = server);
      controls = server;
    } else {
      const port = await freePort();
      endpoint = stdioCommand2026(options, port);
      controls = controls2026(port);
    }
  });
  beforeEach(async () => {
    session = await connect(endpoint);
    // Over stdio the server is there from now on, and its control a moment later.
    if (transport === 'stdio') await session.negotiate('work', {});
  });
  afterEach(async () => {
    // Over stdio the server ends with its session.
    if (transport === 'http') {
      await controls.control({ op: 'release' });
      await controls.control({ op: 'clearFaults' });
    }
    await session.close();
  });
  afterAll(() => stop());
  return {
    get endpoint() {
      return endpoint;
    },
    get session() {
      return session;
    },
    control: (command) => controls.control(command),
    log: () => controls.log(),
    tasks: () => controls.tasks(),
    fault: (fault) => controls.control({ op: 'fault', ...fault }),
  };
}

export async function startTask(session: ProtocolSession, script: Script, tool = 'work'): Promise<TaskView & TaskRef> {
  const { outcome } = await send(session, submission(tool, script));
  if (outcome.kind !== 'acknowledged') throw new Error(`no task: ${JSON.stringify(outcome)}`);
  return { ...outcome.task, tool };
}

export type Seen = Extract<StatusOutcome, { kind: 'status' }>;

export async function until(session: ProtocolSession, task: TaskRef, wanted: string): Promise<Seen> {
  for (let tries = 0; tries < 200; tries++) {
    const seen = await session.status(task);
    if (seen.kind === 'status' && seen.task.status === wanted) return seen;
    await sleep(20);
  }
  throw new Error(`the task never became ${wanted}`);
}

/** What tells nothing, for every read and for the cancel (F11). */
export const NOTHING: [string, object, object][] = [
  ['429 with Retry-After', { kind: 'http', status: 429, retryAfter: '7' }, { retryAfterMs: 7_000, reason: 'HTTP 429' }],
  ['503 without', { kind: 'http', status: 503 }, { reason: 'HTTP 503' }],
  ['401', { kind: 'http', status: 401 }, { reason: 'HTTP 401' }],
  ['404 of HTTP', { kind: 'http', status: 404 }, { reason: 'HTTP 404' }],
  ['-32603', { kind: 'rpc', code: -32603 }, { reason: 'JSON-RPC error -32603' }],
  ['-32021 under 400', { kind: 'rpc', code: -32021, status: 400 }, { reason: expect.stringContaining('-32021') }],
  ['-32003', { kind: 'rpc', code: -32003 }, { reason: expect.stringContaining('-32003') }],
  ['a reset', { kind: 'resetBefore' }, {}],
  ['a lost answer', { kind: 'reset' }, {}],
  ['an answer cut short', { kind: 'truncate' }, {}],
];
