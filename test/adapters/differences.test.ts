/**
 * In what the protocols differ (design section 5, its table): one row each, asked of a real server of each protocol through
 * its adapter. A difference that an adapter hid by mistake would show here.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aip151 } from '../../adapters/aip-151/index.ts';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../adapters/mcp-2026-07-28/index.ts';
import { synchronous } from '../../adapters/sync/index.ts';
import type { Json } from '../../machines/digest.ts';
import type {
  CancelOutcome,
  Endpoint,
  Negotiation,
  OperationProtocol,
  ProtocolSession,
  StatusOutcome,
  SubmitOutcome,
  TaskRef,
} from '../../machines/operation-protocol.ts';
import { AipServer } from '../kit/servers/aip-151.ts';
import { type ScriptedServer, startScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { type ScriptedServer2026, startScriptedServer2026 } from '../kit/servers/mcp-2026-07-28.ts';
import { eventually } from '../support/rig.ts';

let older: ScriptedServer;
let newer: ScriptedServer2026;
let api: AipServer;
beforeAll(async () => {
  [older, newer] = await Promise.all([startScriptedServer(), startScriptedServer2026()]);
  api = await new AipServer({}).listen();
});
afterAll(async () => {
  await Promise.all([older.stop(), newer.stop(), api.stop()]);
});

/** What a test can have a server of each protocol do. */
interface Subject {
  readonly protocol: () => OperationProtocol;
  readonly endpoint: () => Endpoint;
  readonly tool: string;
  /** Arguments of a call that goes on until it is told otherwise; with `asks` it asks the question `q` first. */
  readonly call: (how?: 'hold' | 'asks' | 'asks-first') => Json;
  readonly complete: (outcome?: 'isError') => Promise<void>;
  readonly forget: () => Promise<void>;
  /** Requests seen since the last look, as `method` or `VERB`. */
  readonly seen: () => Promise<readonly string[]>;
  readonly reset: () => Promise<void>;
}

const isError = { content: [{ type: 'text', text: 'no' }], isError: true };
const methodsOf = (log: { readonly requests: readonly { readonly method: string }[] }) =>
  log.requests.map(({ method }) => method).filter((method) => method !== 'tools/list');

const subjects: Readonly<Record<string, Subject>> = {
  'mcp-2025-11-25': {
    protocol: () => mcp20251125({ requestTimeoutMs: 3_000 }),
    endpoint: () => older.endpoint,
    tool: 'work',
    call: (how = 'hold') => ({ script: how === 'asks' ? { ask: 1 } : { outcome: 'hold' } }),
    complete: async (outcome) => {
      // An honest server of this revision calls a tool error `failed`.
      if (outcome === 'isError') await older.control({ op: 'status', taskId: 'last', status: 'failed' });
      else await older.control({ op: 'complete', taskId: 'last' });
    },
    forget: () => older.control({ op: 'forget', taskId: 'last' }),
    seen: async () => methodsOf(await older.log()),
    reset: () => older.control({ op: 'reset' }),
  },
  'mcp-2026-07-28': {
    protocol: () => mcp20260728({ requestTimeoutMs: 3_000 }),
    endpoint: () => newer.endpoint,
    tool: 'work',
    call: (how = 'hold') => ({
      script:
        how === 'asks'
          ? { outcome: 'hold', ask: [['q']] }
          : how === 'asks-first'
            ? { outcome: 'hold', before: [['q']] }
            : { outcome: 'hold' },
    }),
    complete: async (outcome) => {
      if (outcome === 'isError') {
        await newer.control({
          op: 'fault',
          method: 'tasks/get',
          kind: 'amend',
          fields: { status: 'completed', result: isError },
        });
      } else await newer.control({ op: 'complete', taskId: 'last' });
    },
    forget: () => newer.control({ op: 'forget', taskId: 'last' }),
    seen: async () => methodsOf(await newer.log()).filter((method) => method !== 'server/discover'),
    reset: () => newer.control({ op: 'reset' }),
  },
  'aip-151': {
    protocol: () =>
      aip151({ methods: { report: { path: '/v1/{parent=projects/*}/reports:generate' } }, requestTimeoutMs: 3_000 }),
    endpoint: () => api.address(),
    tool: 'report',
    call: () => ({ parent: 'projects/tides' }),
    complete: async () => api.complete(),
    forget: async () => api.forget(),
    seen: async () => api.requests.map(({ call }) => call),
    reset: async () => api.reset(),
  },
};
const NAMES = Object.keys(subjects);

/** A column of the design's table, in words of the interface. */
type Row = Readonly<Record<string, unknown>>;

describe('the protocols differ where the design says that they do, and each as it says (B2)', () => {
  const sessions: ProtocolSession[] = [];
  let serial = 0;
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
    for (const { reset } of Object.values(subjects)) await reset();
  });
  const open = async ({ protocol, endpoint, tool, call }: Subject) => {
    const session = await protocol().connect(endpoint());
    sessions.push(session);
    return { session, negotiated: await session.negotiate(tool, call()) };
  };
  const submit = (session: ProtocolSession, { tool, call }: Subject, how?: Parameters<Subject['call']>[0]) => {
    serial += 1;
    return session.submit(
      {
        tool,
        arguments: call(how),
        submissionKey: `${process.pid}-${serial}`.padStart(64, '0'),
        attempt: 1,
        requestDigest: 'digest',
        principal: 'somebody',
        ttlMs: null,
      },
      { mayWrite: () => true, late: () => undefined, timeoutMs: 3_000 },
    );
  };
  const started = async (subject: Subject, how?: Parameters<Subject['call']>[0]) => {
    const { session } = await open(subject);
    const outcome = await submit(session, subject, how);
    if (outcome.kind !== 'acknowledged') throw new Error(`no operation: ${JSON.stringify(outcome)}`);
    const task: TaskRef = {
      taskId: outcome.task.taskId,
      taskCreatedAt: outcome.task.taskCreatedAt,
      tool: subject.tool,
    };
    return { session, task };
  };
  const capability = (negotiated: Negotiation, name: string): unknown => {
    if (negotiated.kind === 'refused') throw new Error(negotiated.reason);
    return Reflect.get(negotiated.capabilities, name);
  };
  const ask = async (probe: (subject: Subject, name: string) => Promise<unknown>): Promise<Row> => {
    const row: [string, unknown][] = [];
    for (const name of NAMES) row.push([name, await probe(subjects[name] as Subject, name)]);
    return Object.fromEntries(row);
  };
  const last = async <T>(server: { log(): Promise<{ readonly requests: readonly T[] }> }) =>
    (await server.log()).requests.at(-1);

  it('who decides that there is an operation', async () => {
    await ask(async (subject) => started(subject));
    // 2026-07-28: the server does; either answer is taken.
    expect((await last(newer))?.params).not.toHaveProperty('task');
    const subject = subjects['mcp-2026-07-28'] as Subject;
    const { session } = await open(subject);
    const immediate = { ...subject, call: () => ({ script: { immediate: true } }) };
    expect((await submit(session, immediate)).kind).toBe('outcome');
  });

  it('what reads the status, and what brings the result', async () => {
    const row = await ask(async (subject) => {
      const { session, task } = await started(subject);
      await session.status(task);
      await subject.complete();
      const done = await eventually(async () => {
        const read = await session.status(task);
        return read.kind === 'status' && read.task.status === 'completed' ? read : null;
      });
      const inlined = done.kind === 'status' && done.payload !== undefined;
      const fetched = await session.result(task, 'completed');
      return {
        inlined,
        fetched: fetched.kind,
        by: [...new Set(await subject.seen())].filter((method) => /^(tasks\/|get$)/.test(method)),
      };
    });
    expect(row).toEqual({
      'mcp-2025-11-25': { inlined: false, fetched: 'result', by: ['tasks/get', 'tasks/result'] },
      'mcp-2026-07-28': { inlined: true, fetched: 'result', by: ['tasks/get'] },
      'aip-151': { inlined: true, fetched: 'result', by: ['get'] },
    });
  });

  it('how questions come, and whether an answer may be sent again', async () => {
    const row = await ask(async (subject) => {
      const { negotiated } = await open(subject);
      return [capability(negotiated, 'input'), capability(negotiated, 'inputRedelivery')];
    });
    expect(row).toEqual({
      'mcp-2025-11-25': ['channel', false],
      'mcp-2026-07-28': ['status', true],
      'aip-151': ['none', false],
    });
  });

  it('what an acknowledged cancel means', async () => {
    const row = await ask(async (subject) => {
      const { session, task } = await started(subject);
      const { negotiated } = await open(subject);
      const outcome: CancelOutcome = await session.cancel(task);
      return [capability(negotiated, 'cancelEvidence'), outcome.kind];
    });
    expect(row).toEqual({
      'mcp-2025-11-25': ['terminal', 'confirmed'],
      'mcp-2026-07-28': ['cooperative', 'acknowledged'],
      'aip-151': ['cooperative', 'acknowledged'],
    });
  });

  it('a cancel of what is over', async () => {
    const row = await ask(async (subject) => {
      const { session, task } = await started(subject);
      await subject.complete();
      return (await session.cancel(task)).kind;
    });
    expect(row).toEqual({ 'mcp-2025-11-25': 'refused', 'mcp-2026-07-28': 'acknowledged', 'aip-151': 'acknowledged' });
  });

  it('a tool that reports an error of its own', async () => {
    const read = async (name: string): Promise<StatusOutcome> => {
      const subject = subjects[name] as Subject;
      const { session, task } = await started(subject);
      await subject.complete('isError');
      return session.status(task);
    };
    expect(await read('mcp-2025-11-25')).toMatchObject({ task: { status: 'failed' } });
    expect(await read('mcp-2026-07-28')).toMatchObject({ task: { status: 'completed' }, payload: { isError: true } });
  });

  it('questions before there is an operation', async () => {
    const row = await ask(async (subject) => {
      const { session } = await open(subject);
      const outcome: SubmitOutcome = await submit(session, subject, 'asks-first');
      return outcome.kind === 'inputRequired' ? Object.keys(outcome.requests) : outcome.kind;
    });
    expect(row).toEqual({ 'mcp-2025-11-25': 'acknowledged', 'mcp-2026-07-28': ['q'], 'aip-151': 'acknowledged' });
  });

  it('a question after a reconnect', async () => {
    const again = async (name: string) => {
      const subject = subjects[name] as Subject;
      const { task } = await started(subject, 'asks');
      const { session } = await open(subject);
      const keys = await eventually(async () => {
        const read = await session.status(task);
        return read.kind === 'status' && read.task.status === 'input_required' ? read : null;
      });
      return keys.kind === 'status' ? Object.keys(keys.inputRequests ?? {}) : null;
    };
    // By key, as often as it is read; on the older revision a status names no question at all.
    expect(await again('mcp-2026-07-28')).toEqual(['q']);
    expect(await again('mcp-2026-07-28')).toEqual(['q']);
    expect(await again('mcp-2025-11-25')).toEqual([]);
  });

  it('leaving a call that was not answered', async () => {
    const leave = async (name: string, fault: () => Promise<unknown>, gone: () => Promise<number>) => {
      const subject = subjects[name] as Subject;
      const { session } = await open(subject);
      await fault();
      const pending = submit(session, subject);
      await eventually(async () => (await subject.seen()).length > 0);
      await session.close();
      expect((await pending).kind).toBe('connectionLost');
      return gone();
    };
    // 2026-07-28: the server hears a cancel, so a local timeout must not do that (B14): only the end of the session does.
    const disconnects = async () => (await newer.log()).disconnects['tools/call'] ?? 0;
    const hold = () => newer.control({ op: 'fault', method: 'tools/call', kind: 'holdAnswer' });
    await leave('mcp-2026-07-28', hold, async () => 0);
    await eventually(async () => (await disconnects()) === 1);
    const silence = () => older.control({ op: 'fault', method: 'tools/call', kind: 'silence' });
    const cancelled = async () => (await older.tasks()).filter(({ status }) => status === 'cancelled').length;
    const before = await cancelled();
    expect(await leave('mcp-2025-11-25', silence, cancelled)).toBe(before);
  });

  it('what a task is reached again with', async () => {
    const row = await ask(async (subject) => {
      const { session, task } = await started(subject);
      const { negotiated } = await open(subject);
      await session.status(task);
      return negotiated.kind === 'supported' && negotiated.session.sessionId !== null ? 'session' : 'credentials';
    });
    expect(row).toEqual({ 'mcp-2025-11-25': 'session', 'mcp-2026-07-28': 'credentials', 'aip-151': 'credentials' });
    const { task } = await started(subjects['mcp-2026-07-28'] as Subject);
    const { session } = await open(subjects['mcp-2026-07-28'] as Subject);
    await session.status(task);
    expect((await last(newer))?.headers['mcp-name']).toBe(task.taskId);
  });

  it('an id that is not known', async () => {
    const row = await ask(async (subject) => {
      const { session, task } = await started(subject);
      await subject.forget();
      return (await session.status(task)).kind;
    });
    expect(row).toEqual({ 'mcp-2025-11-25': 'notFound', 'mcp-2026-07-28': 'notFound', 'aip-151': 'notFound' });
  });

  it('the look-up, where it is declared and where not', async () => {
    const plain = await ask(async (subject) => capability((await open(subject)).negotiated, 'lookup'));
    expect(plain).toEqual({ 'mcp-2025-11-25': 'none', 'mcp-2026-07-28': 'none', 'aip-151': 'none' });
    await older.control({ op: 'set', options: { lookup: true } });
    await newer.control({ op: 'set', options: { lookup: true } });
    const keyed = aip151({
      methods: {
        report: {
          path: '/v1/{parent=projects/*}/reports:generate',
          requestId: { field: 'requestId', retentionMs: 60_000 },
        },
      },
    });
    const declared = await ask(async (subject, name) =>
      capability(
        (await open(name === 'aip-151' ? { ...subject, protocol: () => keyed } : subject)).negotiated,
        'lookup',
      ),
    );
    await older.control({ op: 'set', options: { lookup: false } });
    await newer.control({ op: 'set', options: { lookup: false } });
    expect(declared).toEqual({ 'mcp-2025-11-25': 'closing', 'mcp-2026-07-28': 'closing', 'aip-151': 'repeat' });
  });

  it('the times of a task', async () => {
    const row = await ask(async (subject, name) => {
      const timed =
        name === 'mcp-2025-11-25'
          ? { outcome: 'hold', ttl: 60_000, pollInterval: 700 }
          : { outcome: 'hold', ttlMs: 60_000, pollIntervalMs: 700 };
      const call = name === 'aip-151' ? subject.call : () => ({ script: timed });
      const { session, task } = await started({ ...subject, call });
      const read = await session.status(task);
      return read.kind === 'status' ? [read.task.ttlMs, read.task.pollIntervalMs] : null;
    });
    expect(row).toEqual({ 'mcp-2025-11-25': [60_000, 700], 'mcp-2026-07-28': [60_000, 700], 'aip-151': [null, null] });
  });

  it('a call that is no operation at all', async () => {
    const server = await startScriptedServer({ tasks: false });
    try {
      const session = await synchronous().connect(server.endpoint);
      sessions.push(session);
      const refused = await session.negotiate('work', { script: {} });
      expect(refused).toMatchObject({
        kind: 'refused',
        next: expect.stringContaining('dev.toolop/synchronous-limit-ms'),
      });
      const task = { taskId: 'none', taskCreatedAt: null, tool: 'work' };
      expect((await session.cancel(task)).kind).toBe('unsupported');
    } finally {
      await server.stop();
    }
  });
});
