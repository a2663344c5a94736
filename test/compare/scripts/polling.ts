/** F11, F10, F2: one status read goes wrong, and the operation goes on. */
import type { Fault, Hand, Script } from '../script.ts';
import { AIP, ALL, MCP, MCP_2025, MCP_2026 } from './protocols.ts';

/** Long enough for a second read, also on a busy machine. */
const WORK = { ms: 900 };
/** The first read goes well; what comes then is the fault. */
const afterOneRead =
  (...faults: readonly Fault[]) =>
  async ({ created, seen, fault }: Hand) => {
    await created();
    await seen('get', 1);
    await fault(...faults);
  };

export const polling: readonly Script[] = [
  {
    name: 'one poll is lost',
    rows: ['F11', 'B8'],
    protocols: ALL,
    what: 'The connection of one status read breaks; the operation completes. The caller calls again on a failure.',
    source: 'https://github.com/microsoft/agent-framework/pull/6319',
    work: WORK,
    plot: afterOneRead({ on: 'get', kind: 'lose-reply' }),
    callsAgain: true,
  },
  {
    name: 'one poll meets an internal error',
    rows: ['F11'],
    protocols: ALL,
    what: 'One status read is answered -32603 (AIP: 500); the operation completes. The caller calls again on a failure.',
    source: 'https://github.com/modelcontextprotocol/inspector/pull/1174',
    work: WORK,
    plot: afterOneRead({ on: 'get', kind: 'error', code: -32603, message: 'Internal error' }),
    callsAgain: true,
  },
  {
    name: 'polls meet 503',
    rows: ['F11'],
    protocols: ALL,
    what: 'Two status reads are answered 503 without Retry-After; the operation completes. The caller calls again on a failure.',
    work: WORK,
    plot: afterOneRead({ on: 'get', kind: 'status', status: 503, times: 2 }),
    callsAgain: true,
  },
  {
    name: 'a poll meets 429 with Retry-After',
    rows: ['F11', 'G3'],
    protocols: ALL,
    what: 'One status read is answered 429 with `Retry-After: 1`; the operation completes. The caller calls again on a failure.',
    source: 'https://github.com/MCPJam/inspector/pull/3518',
    work: WORK,
    plot: afterOneRead({ on: 'get', kind: 'status', status: 429, retryAfter: '1' }),
    callsAgain: true,
  },
  {
    name: 'the server cannot be reached for a second',
    rows: ['F11', 'B8'],
    protocols: ALL,
    what: 'Connections are refused for 1 s; the operation works on and completes. The caller calls again on a failure.',
    work: { ms: 2_000 },
    plot: async ({ created, seen, away }) => {
      await created();
      await seen('get', 1);
      await away(1_000);
    },
    callsAgain: true,
  },
  {
    name: 'one 404 before the expiry',
    rows: ['F10', 'B13'],
    protocols: ALL,
    what: 'One status read says that the id is unknown (a replica that lags); the operation works on and completes.',
    source: 'https://github.com/cloud-barista/cb-spider/pull/1582',
    work: WORK,
    plot: afterOneRead({ on: 'get', kind: 'unknown-id' }),
    callsAgain: true,
  },
  {
    name: 'forgotten after its end',
    rows: ['F10', 'B13'],
    protocols: ALL,
    what: 'The operation completed unseen and the server forgot it: its id is unknown. What it came to, nobody can say.',
    source: 'https://github.com/jenkinsci/google-compute-engine-plugin/issues/171',
    work: { outcome: 'hold' },
    plot: async ({ created, seen, forget }) => {
      await created();
      await seen('get', 1);
      await forget();
    },
    callsAgain: true,
  },
  {
    name: 'the session ends, the task does not',
    rows: ['F10', 'B13', 'B14'],
    protocols: MCP_2025,
    what: 'The server drops its HTTP sessions while the tool works; the task completes and any session may read it.',
    source: 'https://github.com/PrefectHQ/fastmcp/issues/3758',
    work: WORK,
    plot: async ({ created, seen, dropSessions }) => {
      await created();
      await seen('get', 1);
      await dropSessions();
    },
    callsAgain: true,
  },
  {
    name: 'an old answer comes late',
    rows: ['F2'],
    protocols: MCP_2025,
    what: 'After `input_required` was over, two reads still say so and then `working` (a cache); nothing is asked, the task completes.',
    work: WORK,
    plot: async ({ created, seen, statuses }) => {
      await created();
      await seen('get', 1);
      await statuses('input_required', 'working');
    },
    patienceMs: 8_000,
  },
  {
    name: 'an old answer comes late (2026)',
    rows: ['F2'],
    protocols: MCP_2026,
    what: 'The same: `input_required` without any question in it, once.',
    work: WORK,
    plot: async ({ created, seen, statuses }) => {
      await created();
      await seen('get', 1);
      await statuses('input_required', 'working');
    },
    callsAgain: true,
  },
  {
    name: 'the wait budget ends before the work',
    rows: ['B8', 'G5'],
    protocols: AIP,
    what: 'The caller allows 600 ms, the operation takes 1.5 s and completes. The caller calls again.',
    source: 'https://github.com/googleapis/google-cloud-cpp/pull/8695',
    work: { ms: 1_500 },
    budgetMs: 600,
    callsAgain: true,
  },
  {
    name: 'the server wants to be asked seldom',
    rows: ['B8', 'G3'],
    protocols: MCP,
    what: 'Its interval is 500 ms and the work takes 1.2 s: how many requests does it cost?',
    work: { ms: 1_200, pollIntervalMs: 500 },
  },
];
