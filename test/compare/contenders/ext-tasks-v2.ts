/** ext-tasks on a server of 2026-07-28. Its adapter leaves the requests themselves to the host: one POST each, here. */
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, type JsonRpcResponse } from '@modelcontextprotocol/ext-tasks/client';
import type { Contender, Scene } from './contender.ts';
import { processOf } from './ext-tasks.ts';

const REVISION = '2026-07-28';
const INFO = { name: 'compare', version: '1.0.0' };

export function extTasksV2(version: string): Contender {
  return {
    name: 'ext-tasks v2',
    version,
    protocols: ['mcp-2026-07-28'],
    can: ['cancel', 'come-back', 'input'],
    notes: [
      'Stock adapter; the raw dispatch that it asks of its host is one POST without a retry. A host that marks failures as retryable makes its core send `tools/call` a second time.',
      'Leaves as its README shows it, by `session.close()`; `detach()`, which a caller has to know, cancels nothing.',
    ],
    async open(scene, memory) {
      const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
      const client = new McpClient(INFO, { capabilities, versionNegotiation: { mode: { pin: REVISION } } });
      await client.connect(new StreamableHTTPClientTransport(new URL(scene.url)) as never);
      const session = createTaskSessionFromClient(client, {
        endpointId: 'compare',
        rawDispatch: dispatchTo(scene),
        v2RequestFraming: { protocolVersion: REVISION, clientInfo: INFO, clientCapabilities: { elicitation: {} } },
        onInputRequest: async () => ({ action: 'accept', content: { word: await scene.ask() } }) as never,
      });
      return processOf(scene, memory, { session, close: () => client.close() });
    },
    stop: async () => undefined,
  };
}

let serial = 0;
const dispatchTo =
  ({ url, requestTimeoutMs }: Scene) =>
  async (request: unknown, options: { readonly signal?: AbortSignal } = {}): Promise<JsonRpcResponse> => {
    const { method, params } = request as { method: string; params: { taskId?: string; name?: string } };
    const patience = AbortSignal.timeout(requestTimeoutMs);
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': REVISION,
        'mcp-method': method,
        'mcp-name': params.taskId ?? params.name ?? '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: `raw-${serial++}`, method, params }),
      signal: options.signal ? AbortSignal.any([options.signal, patience]) : patience,
    });
    const text = await response.text();
    const body = parsed(text);
    if (body?.error !== undefined) return { kind: 'error', error: body.error };
    if (body?.result !== undefined) return { kind: 'result', result: body.result };
    throw new Error(`HTTP ${response.status}: ${text.slice(0, 80)}`);
  };

function parsed(text: string): { readonly error?: never; readonly result?: never } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
