/** F1: the call reached the server or not, and the caller cannot see which. */
import type { Script } from '../script.ts';
import { ALL, MCP, MCP_2025 } from './protocols.ts';

const LOST = [{ on: 'create', kind: 'lose-reply' }] as const;

export const submission: readonly Script[] = [
  {
    name: 'the first reply is lost',
    rows: ['F1', 'B4', 'G2'],
    protocols: ALL,
    what: 'The operation was made and completes, the reply with its id is lost. The caller calls again.',
    source: 'https://github.com/databricks-solutions/ai-dev-kit/pull/80',
    before: LOST,
    afterwards: 'calls again',
  },
  {
    name: 'the first reply is lost, the server keeps keys',
    rows: ['F1', 'B4', 'G2'],
    protocols: ALL,
    what: 'The same, and the server declares a look-up by submission key (MCP: not of the standard; AIP-155: request ids).',
    source: 'https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3182',
    offers: 'look-up',
    before: LOST,
    afterwards: 'calls again',
  },
  {
    name: 'the first reply is cut in its middle',
    rows: ['F1', 'F7', 'G2'],
    protocols: ALL,
    what: 'Half of the reply arrives, then the connection ends. The caller calls again.',
    before: [{ on: 'create', kind: 'cut-reply' }],
    afterwards: 'calls again',
  },
  {
    name: 'the first reply comes after the patience',
    rows: ['F1', 'B4'],
    protocols: MCP,
    what: 'It comes 5 s late, the caller waits 4 s for a request. It calls again.',
    source: 'https://github.com/modelcontextprotocol/typescript-sdk/issues/404',
    work: { ms: 5_500 },
    before: [{ on: 'create', kind: 'late-reply', ms: 5_000 }],
    patienceMs: 8_000,
    afterwards: 'calls again',
  },
  {
    name: 'the call is lost before it arrives',
    rows: ['F1', 'B4', 'B13'],
    protocols: ALL,
    what: 'The server never saw it: calling again would be right, if one could know. The caller calls again.',
    before: [{ on: 'create', kind: 'lose-request' }],
    afterwards: 'calls again',
  },
  {
    name: 'the call is lost before it arrives, the server keeps keys',
    rows: ['F1', 'B4', 'B13'],
    protocols: ALL,
    what: 'The same, and the server can prove that it never saw it.',
    offers: 'look-up',
    before: [{ on: 'create', kind: 'lose-request' }],
    afterwards: 'calls again',
  },
  {
    name: 'the call meets 429 with Retry-After',
    rows: ['F11', 'B4'],
    protocols: ALL,
    what: 'The call is turned away once with `Retry-After: 1`; nothing ran. The caller calls again.',
    source: 'https://github.com/nextcloud/talk-ios/pull/2116',
    before: [{ on: 'create', kind: 'status', status: 429, retryAfter: '1' }],
    afterwards: 'calls again',
  },
  {
    name: 'the server starts anew and has forgotten',
    rows: ['F10', 'B13', 'G2'],
    protocols: MCP_2025,
    what: 'Its process is killed while the tool works, the next one knows nothing. The caller calls again.',
    source: 'https://github.com/Molecule-AI/molecule-core/issues/176',
    work: { outcome: 'hold' },
    plot: async ({ created, seen, restart }) => {
      await created();
      await seen('get', 1);
      await restart();
    },
    afterwards: 'calls again',
  },
];
