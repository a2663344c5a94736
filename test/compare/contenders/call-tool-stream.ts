/** `client.experimental.tasks.callToolStream` of the SDK 1.x, on a server of 2025-11-25. */
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Told } from '../history.ts';
import { errorText, resultText } from '../text.ts';
import { type Contender, goingOn, type Scene, type Waiting } from './contender.ts';

export function callToolStream(version: string): Contender {
  return {
    name: 'callToolStream',
    version,
    protocols: ['mcp-2025-11-25'],
    can: ['cancel', 'input'],
    notes: [
      'Has no way to take up a call in another process. Its error "Task … failed" counts as failed, every other one claims nothing.',
    ],
    async open(scene) {
      const client = new McpClient({ name: 'compare', version: '1.0.0' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, async () => ({
        action: 'accept',
        content: { word: await scene.ask() },
      }));
      await client.connect(new StreamableHTTPClientTransport(new URL(scene.url)) as Transport);
      // It checks results against the output schemas of the tools that it was shown.
      let page = await client.listTools();
      while (page.nextCursor !== undefined) page = await client.listTools({ cursor: page.nextCursor });
      return {
        call: () => streamed(client, scene),
        comeBack: () => Promise.reject(new Error('callToolStream cannot take up a call')),
        close: () => client.close(),
      };
    },
    stop: async () => undefined,
  };
}

function streamed(client: McpClient, scene: Scene): Waiting {
  const stop = new AbortController();
  let isCreated: (taskId: string) => void = () => undefined;
  const created = new Promise<string>((resolve) => {
    isCreated = resolve;
  });
  const told = (async (): Promise<Told> => {
    const { tool: name, requestTimeoutMs: timeout } = scene;
    const stream = client.experimental.tasks.callToolStream(
      { name, arguments: scene.arguments },
      CallToolResultSchema,
      { task: {}, timeout, signal: stop.signal },
    );
    for await (const message of stream) {
      if (message.type === 'taskCreated') isCreated(message.task.taskId);
      if (message.type === 'result') {
        return { kind: 'completed', text: resultText(message.result), isError: message.result.isError === true };
      }
      if (message.type === 'error') return toldOf(message.error.message);
    }
    return { kind: 'silent' };
  })()
    .catch((error: unknown): Told => ({ kind: 'error', text: errorText(error) }))
    .then((one) => goingOn(scene, one));
  return {
    told,
    async cancel() {
      await client.experimental.tasks.cancelTask(await created);
    },
    async leave() {
      stop.abort(new Error('the caller stopped waiting'));
      await client.close();
    },
  };
}

function toldOf(message: string): Told {
  if (/Task \S+ was cancelled/.test(message)) return { kind: 'cancelled' };
  return { kind: /Task \S+ failed/.test(message) ? 'failed' : 'error', text: message };
}
