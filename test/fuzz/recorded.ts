/** Answers of a real server of MCP 2025-11-25, as they came over the wire: what the mutations begin with. */
import type { Json } from '../../machines/digest.ts';
import { BORN } from '../machines/scenario.ts';

export const TASK = {
  taskId: 'task-1',
  status: 'working',
  statusMessage: 'The operation is now in progress.',
  createdAt: BORN,
  lastUpdatedAt: '2026-12-02T08:00:04Z',
  ttl: 60_000,
  pollInterval: 500,
};
const related = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } };
const text = (words: string) => ({ content: [{ type: 'text', text: words }] });

export const TOOL = {
  name: 'report',
  title: 'A report',
  description: 'Writes a report.',
  inputSchema: {
    type: 'object',
    properties: { month: { type: 'string', pattern: '^[A-Z][a-z]+$' }, pages: { type: 'integer', minimum: 1 } },
    required: ['month'],
  },
  outputSchema: {
    type: 'object',
    properties: { pages: { type: 'array', items: { $ref: '#/$defs/page' }, uniqueItems: true } },
    required: ['pages'],
    $defs: { page: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } } },
  },
  annotations: { readOnlyHint: true },
  execution: { taskSupport: 'optional' },
};
const { outputSchema: _, ...PLAIN_TOOL } = TOOL;
export const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: {
    tools: { listChanged: true },
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    experimental: { 'dev.toolop/submission-key': { lookup: true, deduplicates: true, retentionMs: 86_400_000 } },
  },
  serverInfo: { name: 'scripted', version: '1.0.0' },
};

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'];
const results: readonly Json[] = [
  ...STATUSES.map((status) => ({ ...TASK, status })),
  { task: TASK },
  { ...text('done'), structuredContent: { pages: [{ at: BORN }, {}] }, ...related },
  { ...text('done'), ...related },
  { ...text('it broke'), isError: true, ...related },
  { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }], structuredContent: { pages: [] } },
  { found: TASK },
  { neverCreated: true, closedThroughAttempt: 1 },
  { expiredWithReceipt: { taskId: 'task-1', createdAt: BORN, status: 'completed' } },
  { tools: [TOOL], nextCursor: 'page-2' },
  { tools: [PLAIN_TOOL] },
  INITIALIZED,
  { tasks: [TASK], nextCursor: 'x' },
  {},
];

/** The id of the request that is answered stands where the real one did. */
export const ID = 314_159_265_358;
export const ANSWERS: readonly Json[] = [
  ...results.map((result) => ({ jsonrpc: '2.0', id: ID, result })),
  ...[-32_602, -32_601, -32_603, -32_700, 1].map((code) => ({
    jsonrpc: '2.0',
    id: ID,
    error: { code, message: 'MCP error: no', data: { why: [1, 'two', null] } },
  })),
];

/** What a server says by itself. */
export const UNASKED: readonly Json[] = [
  { jsonrpc: '2.0', id: 7, method: 'ping' },
  {
    jsonrpc: '2.0',
    id: 'question-1',
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Which one?',
      requestedSchema: {
        type: 'object',
        properties: {
          which: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
          when: { type: 'string', format: 'date-time' },
          how: { type: 'array', items: { anyOf: [{ const: 1, title: 'One' }] } },
          many: { type: 'integer', minimum: 1, default: 3 },
        },
        required: ['which'],
      },
      ...related,
    },
  },
  {
    jsonrpc: '2.0',
    id: 8,
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 10 },
  },
  { jsonrpc: '2.0', id: 9, method: 'roots/list' },
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'question-1', reason: 'over' } },
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 0.5, total: 1 } },
  { jsonrpc: '2.0', method: 'notifications/tasks/status', params: { ...TASK, status: 'completed' } },
  { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'words' } },
  { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
];

/** The same of 2026-07-28, in its own shapes. */
export const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: {
    tools: {},
    extensions: {
      'io.modelcontextprotocol/tasks': {},
      'dev.toolop/submission-key': { lookup: true, deduplicates: true, retentionMs: 86_400_000 },
    },
  },
  serverInfo: { name: 'scripted', version: '1.0.0' },
  ttlMs: 0,
  cacheScope: 'private',
};
const FLAT = {
  resultType: 'complete',
  taskId: 'task-1',
  status: 'working',
  createdAt: BORN,
  lastUpdatedAt: '2026-12-02T08:00:04Z',
  ttlMs: 60_000,
  pollIntervalMs: 500,
};
const ASKED = {
  which: {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Which one?',
      requestedSchema: {
        type: 'object',
        properties: { which: { type: 'string', enum: ['a', 'b'] } },
        required: ['which'],
      },
    },
  },
};
const results2026: readonly Json[] = [
  ...STATUSES.map((status) => ({ ...FLAT, status })),
  { ...FLAT, resultType: 'task' },
  { ...FLAT, status: 'input_required', inputRequests: ASKED },
  { ...FLAT, status: 'completed', result: { ...text('done'), structuredContent: { pages: [{ at: BORN }, {}] } } },
  { ...FLAT, status: 'completed', result: { ...text('it broke'), isError: true } },
  { ...FLAT, status: 'failed', error: { code: -32_050, message: 'broke', data: { why: 1 } } },
  { resultType: 'complete', ...text('done') },
  { resultType: 'input_required', inputRequests: ASKED, requestState: 'state' },
  { resultType: 'complete' },
  { resultType: 'complete', found: FLAT },
  { resultType: 'complete', neverCreated: true, closedThroughAttempt: 1 },
  { resultType: 'complete', expiredWithReceipt: { taskId: 'task-1', createdAt: BORN, status: 'completed' } },
  { resultType: 'complete', tools: [TOOL], nextCursor: 'page-2' },
  { resultType: 'complete', tools: [PLAIN_TOOL] },
  DISCOVERED,
];
export const ANSWERS_2026: readonly Json[] = [
  ...results2026.map((result) => ({ jsonrpc: '2.0', id: ID, result })),
  ...[-32_602, -32_601, -32_603, -32_020, -32_021, -32_022].map((code) => ({
    jsonrpc: '2.0',
    id: ID,
    error: { code, message: 'no', data: { requiredCapabilities: {} } },
  })),
];
