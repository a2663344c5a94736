/** F6, F7: it has completed, and the result does not come, or not whole. */
import { FOR_GOOD } from '../arenas/arena.ts';
import type { Hand, Script } from '../script.ts';
import { AIP, ALL, MCP, MCP_2025, MCP_2026 } from './protocols.ts';

const HOLD = { outcome: 'hold' } as const;
const working = async ({ created, seen }: Hand) => {
  await created();
  await seen('get', 1);
};

export const result: readonly Script[] = [
  {
    name: 'the reply with the result is lost once',
    rows: ['F6', 'B11'],
    protocols: MCP_2025,
    what: 'Completed; the first answer to `tasks/result` is lost, the second would come. The caller calls again on a failure.',
    before: [{ on: 'result', kind: 'lose-reply' }],
    callsAgain: true,
  },
  {
    name: 'the reply with the result is cut once',
    rows: ['F7', 'B11'],
    protocols: MCP_2025,
    what: 'Half of the first answer to `tasks/result` arrives. The caller calls again on a failure.',
    before: [{ on: 'result', kind: 'cut-reply' }],
    callsAgain: true,
  },
  {
    name: 'a status read is cut once',
    rows: ['F7', 'B11'],
    protocols: [...MCP_2026, ...AIP],
    what: 'Half of one status read arrives; the operation completes. The caller calls again on a failure.',
    work: { ms: 900 },
    plot: async (hand) => {
      await working(hand);
      await hand.fault({ on: 'get', kind: 'cut-reply' });
    },
    callsAgain: true,
  },
  {
    name: 'completed without a result, once',
    rows: ['F6', 'B11'],
    protocols: ALL,
    what: 'The first read after the end says completed and has no result (2025-11-25: `tasks/result` is refused); the next one has it.',
    source: 'https://github.com/apify/apify-mcp-server/pull/680',
    work: HOLD,
    plot: async (hand) => {
      await working(hand);
      await hand.completeWithoutResult(1);
    },
    callsAgain: true,
  },
  {
    name: 'completed without a result, for good',
    rows: ['F6', 'B11'],
    protocols: ALL,
    what: 'The server says completed and never has a result. Nobody can say what it came to.',
    source: 'https://github.com/googleapis/google-cloud-node-core/issues/435',
    work: HOLD,
    plot: async (hand) => {
      await working(hand);
      await hand.completeWithoutResult(FOR_GOOD);
    },
    patienceMs: 8_000,
  },
  {
    name: 'the result breaks its own schema',
    rows: ['F7', 'B12'],
    protocols: MCP,
    what: 'The tool declares an output schema and returns something else. The server calls that completed.',
    work: { badSchema: true },
    patienceMs: 8_000,
  },
];
