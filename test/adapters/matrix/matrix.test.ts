/** Every server of the project and the everything server, each with everything that a call can come to there. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { aip151 } from '../../../adapters/aip-151/index.ts';
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../../adapters/mcp-2026-07-28/index.ts';
import type { OperationProtocol, ToolCall } from '../../../machines/index.ts';
import { freePort } from '../../kit/free-port.ts';
import { AipServer } from '../../kit/servers/aip-151.ts';
import { type HalfRig, type ServerProcess, startHalfRig } from '../../servers-half/rig.ts';
import { eventually, FAST, type Rig, startRig } from '../../support/rig.ts';
import { type Kind, type Lacks, ROWS, type RowName, type Stand } from './rows.ts';

interface Column {
  readonly client: OperationProtocol;
  readonly lacks: Lacks;
  open(): Promise<Stand & { close(): Promise<void> }>;
}

let serial = 0;
const node = () => `matrix-${process.pid}-${serial++}`;
const nothing = () => Promise.reject(new Error('this server has no such control'));

const PROGRAM_2026 = fileURLToPath(new URL('../../servers-half/server-2026.ts', import.meta.url));

/** A server on the servers' half, of either revision: its tasks are in Redis. */
function half(program: string | undefined, toolErrorIs: Stand['toolErrorIs']): Column['open'] {
  return async () => {
    const rig: HalfRig = await startHalfRig();
    const port = await freePort();
    const start = (): Promise<ServerProcess> => rig.server({ port }, program);
    let server = await start();
    const labels: Readonly<Record<Kind, string>> = {
      quick: 'quick',
      hold: 'hold',
      toolError: 'throw',
      fault: 'fault',
      asks: 'ask',
      deaf: 'hold-on',
      resumable: 'hold',
    };
    return {
      toolErrorIs,
      afterRestart: 'completed',
      call(kind) {
        const label = `${labels[kind]}-${node()}`;
        const endpoint = { kind: 'http', url: server.url, headers: { authorization: 'Bearer matrix' } } as const;
        const ask = program === undefined ? 1 : ['go'];
        return {
          callNodeId: label,
          endpoint,
          tool: kind === 'resumable' ? 'again' : 'work',
          arguments: { label, ...(kind === 'asks' ? { ask } : {}) },
        };
      },
      async release({ callNodeId: label, tool }) {
        await rig.release(label);
        // Done, and stored: what is asked from now on is too late.
        await eventually(async () => (await rig.count('done', `${tool} ${label}`)) > 0);
        await new Promise((resolve) => setTimeout(resolve, 200));
      },
      forget: async () => {
        const tasks = await rig.redis.keys('*task*');
        if (tasks.length > 0) await rig.redis.del(...tasks);
      },
      async restart() {
        await server.kill();
        server = await start();
      },
      close: () => rig.close(),
    };
  };
}

const COLUMNS: Readonly<Record<string, Column>> = {
  'the everything server (2025-11-25)': {
    client: mcp20251125(),
    lacks: {
      fail: 'its one task tool never fails',
      'tool error': 'its one task tool never reports an error',
      'cancel lost': 'nobody can tell its task when to end',
      expiry: 'nobody can make it forget a task',
    },
    async open() {
      const port = await freePort();
      const main = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
      const start = async (): Promise<ChildProcess> => {
        const child = spawn(process.execPath, [main, 'streamableHttp'], {
          env: { ...process.env, PORT: String(port) },
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        for (let said = ''; !said.includes('listening'); ) said += String(await once(child.stderr as never, 'data'));
        return child;
      };
      const end = async (child: ChildProcess) => {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      };
      let child = await start();
      return {
        toolErrorIs: 'failed',
        afterRestart: 'PARKED',
        call: (kind) => ({
          callNodeId: node(),
          endpoint: { kind: 'http', url: `http://127.0.0.1:${port}/mcp` },
          tool: 'simulate-research-query',
          arguments: { topic: 'tides', ambiguous: kind === 'asks' },
        }),
        release: nothing,
        forget: nothing,
        async restart() {
          await end(child);
          child = await start();
        },
        close: () => end(child),
      };
    },
  },
  "the official SDK's server of 2025-11-25 on the servers' half": {
    client: mcp20251125(),
    lacks: { fail: 'an McpServer turns every fault of a tool into a tool error' },
    open: half(undefined, 'failed'),
  },
  "the official SDK's server of 2026-07-28 on the servers' half": {
    client: mcp20260728(),
    lacks: {},
    open: half(PROGRAM_2026, 'completed'),
  },
  'an API of AIP-151': {
    client: aip151({ methods: { report: { path: '/v1/{parent=projects/*}/reports:generate' } } }),
    lacks: { 'tool error': 'an operation has no tool, and no such error', input: 'an operation asks nothing' },
    async open() {
      const api = await new AipServer({}).listen();
      const address = api.address();
      let starts = 0;
      const started = async () => {
        const before = starts;
        while (api.executions <= before) await new Promise((resolve) => setTimeout(resolve, 10));
        starts = api.executions;
      };
      return {
        toolErrorIs: 'failed',
        afterRestart: 'completed',
        call(kind): ToolCall {
          api.options = { cancel: kind === 'deaf' ? 'heard' : 'obeyed' };
          if (kind === 'quick') void started().then(() => api.complete());
          else if (kind === 'fault') void started().then(() => api.fail(13, 'broke'));
          else void started();
          return { callNodeId: node(), endpoint: address, tool: 'report', arguments: { parent: 'projects/tides' } };
        },
        release: async () => api.complete(),
        forget: async () => api.forget(),
        restart: () => api.restart(true),
        close: () => api.stop(),
      };
    },
  },
};

describe.each(Object.entries(COLUMNS))('%s', (_, { client, lacks, open }) => {
  let rig: Rig;
  let stand: Awaited<ReturnType<Column['open']>>;
  beforeAll(async () => {
    rig = await startRig('embedded');
    stand = await open();
  }, 60_000);
  afterEach(() => rig.retire());
  afterAll(async () => {
    await rig.close();
    await stand.close();
  });

  for (const name of Object.keys(ROWS) as RowName[]) {
    const lack = lacks[name];
    if (lack !== undefined) {
      it.skip(`${name}: ${lack}`);
      continue;
    }
    it(name, { timeout: 90_000 }, async () => {
      const policy = { ...FAST, waitBudgetMs: 15_000, cancelBudgetMs: 15_000 };
      const executor = await rig.executor({ protocols: [client], policy, requestTimeoutMs: 10_000, leaseMs: 5_000 });
      await ROWS[name](stand, executor);
    });
  }
});
