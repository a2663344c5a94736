/** Nothing goes wrong on the way: what each makes of an ordinary end. */
import type { Script } from '../script.ts';
import { ALL, MCP, MCP_2025, MCP_2026 } from './protocols.ts';

export const plain: readonly Script[] = [
  {
    name: 'completes',
    rows: ['B8', 'B11'],
    protocols: ALL,
    what: 'The tool works for 150 ms and completes.',
  },
  {
    name: 'the tool says isError',
    rows: ['B11'],
    protocols: MCP,
    what: 'The result carries `isError` and a text; on 2025-11-25 the task is failed, on 2026-07-28 completed.',
    source: 'https://github.com/modelcontextprotocol/typescript-sdk/issues/1922',
    work: { outcome: 'tool-error' },
  },
  {
    name: 'ends with an error of the protocol',
    rows: ['B11'],
    protocols: ALL,
    what: 'The operation fails with a code and a message.',
    source: 'https://github.com/modelcontextprotocol/typescript-sdk/issues/1385',
    work: { outcome: 'rpc-error' },
  },
  {
    name: 'over at once',
    rows: ['B1', 'B5'],
    protocols: MCP_2026,
    what: 'The server answers the call with its result, without a task.',
    work: { atOnce: true },
    callsAgain: true,
  },
  {
    name: 'the server ignores `task`',
    rows: ['B1', 'B5'],
    protocols: MCP_2025,
    what: 'A task is asked for; the server does the work and answers with its plain result.',
    work: { atOnce: true },
    callsAgain: true,
  },
  {
    name: 'the result as in the example of the specification',
    rows: ['B11'],
    protocols: MCP_2026,
    what: 'Inside of `tasks/get` the result has no `resultType`.',
    work: { unmarked: true },
    callsAgain: true,
  },
];
