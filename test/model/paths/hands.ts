/** How a walk handles a scripted server, whatever the revision that it speaks. */

import type { RecordedServer } from '../../kit/record.ts';
import type { Control, Script, ScriptedServer } from '../../kit/servers/mcp-2025-11-25.ts';
import type {
  Control as Control2026,
  Script as Script2026,
  ScriptedServer2026,
} from '../../kit/servers/mcp-2026-07-28.ts';
import type { Contract } from '../system/server.ts';

/** What both can be told in the same words. */
export type Order = Extract<
  Control,
  {
    op:
      | 'complete'
      | 'fail'
      | 'status'
      | 'statuses'
      | 'forget'
      | 'reuse'
      | 'fault'
      | 'clearFaults'
      | 'askAgain'
      | 'forgetDone'
      | 'lyingCancel';
  }
>;

export interface Hands {
  readonly url: string;
  readonly port: number;
  readonly recorded: RecordedServer;
  /** From here on it is another server: the one of the contract. */
  become(contract: Contract, retentionMs: number | null): Promise<void>;
  /** How the call is to go. */
  script(contract: Contract, ttlMs: number | null): Script | Script2026;
  control(order: Order): Promise<void>;
  /** The task that was made last asks its question with this number. */
  ask(number: number): Promise<void>;
  /** The next status lists the question with this number, although it was answered. */
  listAnswered(number: number): Promise<void>;
  created(): Promise<readonly string[]>;
  tasks(): Promise<readonly { readonly taskId: string; readonly status: string }[]>;
}

export function hands2025(server: ScriptedServer): Hands {
  const { url, port } = server;
  return {
    url,
    port,
    recorded: { port },
    async become(contract, retentionMs) {
      await server.control({ op: 'reset' });
      await server.control({
        op: 'set',
        options: {
          lookup: contract.lookup === 'closing',
          dedup: contract.deduplicates,
          asksAgain: contract.asksAgain,
          cancel: contract.cancel !== 'none',
          retentionMs,
        },
      });
    },
    script: ({ atOnce }, ttl) => ({
      outcome: 'hold',
      pollInterval: 1,
      ttl,
      ...(atOnce ? { ignoreTask: true } : {}),
    }),
    control: (order) => server.control(order),
    ask: () => server.control({ op: 'ask', taskId: 'last', message: 'go on?' }),
    listAnswered: async () => undefined,
    created: async () => (await server.log()).created,
    tasks: () => server.tasks(),
  };
}

/** Orders that mean nothing to this revision: it asks by key, remembers no synchronous calls, and confirms no cancel. */
const UNKNOWN: ReadonlySet<Order['op']> = new Set(['askAgain', 'forgetDone', 'lyingCancel']);

export function hands2026(server: ScriptedServer2026): Hands {
  const { url, port } = server;
  const last = async () => {
    const taskId = (await server.log()).created.at(-1);
    return (await server.tasks()).find((task) => task.taskId === taskId);
  };
  return {
    url,
    port,
    recorded: { port, revision: '2026-07-28' },
    async become(contract, retentionMs) {
      await server.control({ op: 'reset' });
      await server.control({
        op: 'set',
        options: {
          lookup: contract.lookup === 'closing',
          dedup: contract.deduplicates,
          retentionMs,
          // The model says when a task gives in.
          cancel: 'ignore',
        },
      });
    },
    script: ({ asksFirst }, ttlMs) => ({
      outcome: 'hold',
      pollIntervalMs: 1,
      ttlMs,
      ...(asksFirst ? { before: [['q1']] } : {}),
    }),
    control: async (order) => {
      if (!UNKNOWN.has(order.op)) await server.control(order as Control2026);
    },
    ask: (number) => server.control({ op: 'ask', taskId: 'last', keys: [`q${number}`] }),
    async listAnswered(number) {
      const task = await last();
      if (!task || task.status === 'input_required') return;
      const { taskId, createdAt, lastUpdatedAt } = task;
      const question = { message: `question q${number}`, requestedSchema: WORD };
      await server.control({
        op: 'fault',
        method: 'tasks/get',
        kind: 'answer',
        result: {
          ...{ resultType: 'complete', taskId, createdAt, lastUpdatedAt, ttlMs: null, pollIntervalMs: 1 },
          status: 'input_required',
          inputRequests: { [`q${number}`]: { method: 'elicitation/create', params: question } },
        },
      });
    },
    created: async () => (await server.log()).created,
    tasks: () => server.tasks(),
  };
}

/** The form of every question of the scripted server. */
const WORD = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
