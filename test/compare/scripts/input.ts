/** F3, B7: the server asks, a human answers. */
import type { Script } from '../script.ts';
import { MCP, MCP_2026 } from './protocols.ts';

export const input: readonly Script[] = [
  {
    name: 'one question',
    rows: ['B7'],
    protocols: MCP,
    what: 'The task asks once, the human answers, it completes.',
    source: 'https://github.com/modelcontextprotocol/typescript-sdk/pull/1185',
    work: { questions: 1 },
    needs: ['input'],
  },
  {
    name: 'two questions, one after the other',
    rows: ['B7', 'F3'],
    protocols: MCP,
    what: 'Two rounds in one operation.',
    source: 'https://github.com/langchain-ai/langgraphjs/issues/1298',
    work: { questions: 2 },
    needs: ['input'],
  },
  {
    name: 'an answered question stays listed',
    rows: ['F3', 'B7'],
    protocols: MCP_2026,
    what: 'For 400 ms after its answer it is still in every status read (eventually consistent).',
    source: 'https://github.com/mastra-ai/mastra/issues/21229',
    work: { questions: 1, lagMs: 400 },
    needs: ['input'],
  },
  {
    name: 'an answered question stays listed, and the caller starts anew',
    rows: ['F3', 'B7', 'R3'],
    protocols: MCP_2026,
    what: 'The same for 4 s, and the process of the caller is another one after the answer.',
    source: 'https://github.com/langchain-ai/langgraph/issues/6663',
    work: { questions: 1, lagMs: 4_000 },
    needs: ['input', 'come-back'],
    patienceMs: 8_000,
    plot: async ({ created, answered, comeBack }) => {
      await created();
      await answered();
      await comeBack();
    },
  },
];
