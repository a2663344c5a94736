/** F9, F8, B14: whose answer is this, who may act on it, and who is still there. */
import type { Hand, Script } from '../script.ts';
import { ALL, MCP } from './protocols.ts';

const working = async ({ created, seen }: Hand) => {
  await created();
  await seen('get', 1);
};
const STRANGER = {
  taskId: 'somebody-elses',
  status: 'completed',
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUpdatedAt: '2026-01-01T00:00:00.000Z',
};

export const identity: readonly Script[] = [
  {
    name: 'one answer is about another task',
    rows: ['F9'],
    protocols: MCP,
    what: 'One status read answers with another task id, completed; ours works on and completes. The caller calls again on a failure.',
    work: { ms: 900 },
    plot: async (hand) => {
      await working(hand);
      const both = { ttl: null, pollInterval: 50, ttlMs: null, pollIntervalMs: 50, resultType: 'complete' };
      await hand.fault({ on: 'get', kind: 'answer', result: { ...STRANGER, ...both } });
    },
    callsAgain: true,
  },
  {
    name: 'the id is given to another task',
    rows: ['F9', 'B12'],
    protocols: MCP,
    what: 'The server forgets the task and gives its id to another one (created later), which completes with a result that is not ours.',
    work: { outcome: 'hold' },
    plot: async (hand) => {
      await working(hand);
      await hand.reuse();
    },
  },
  {
    name: 'two processes wait for one call',
    rows: ['F8', 'B12', 'G6'],
    protocols: ALL,
    what: 'A second process takes the call up while the first one is only slow; it completes. The next step must run once.',
    source: 'https://github.com/taskforcesh/bullmq/issues/3183',
    work: { ms: 1_500 },
    needs: ['come-back'],
    plot: async (hand) => {
      await working(hand);
      await hand.secondProcess();
    },
  },
  {
    name: 'the caller starts anew',
    rows: ['B14', 'R3'],
    protocols: ALL,
    what: 'Its process ends while the tool works, the next one takes the call up; it completes.',
    source: 'https://github.com/mastra-ai/mastra/issues/4630',
    work: { ms: 1_200 },
    needs: ['come-back'],
    plot: async (hand) => {
      await working(hand);
      await hand.comeBack();
    },
  },
  {
    name: 'the caller stops waiting',
    rows: ['B14'],
    protocols: ALL,
    what: 'It stops and closes what it opened, as the documentation shows; the tool works on and should complete.',
    source: 'https://github.com/leehack/mcp_dart/issues/127',
    work: { ms: 900 },
    plot: async (hand) => {
      await working(hand);
      await hand.leave();
    },
  },
];
