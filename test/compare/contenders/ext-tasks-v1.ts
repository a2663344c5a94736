/** ext-tasks on a server of 2025-11-25, with its stock adapter for the SDK's client. */
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, toolDeclarationFromMcpTool } from '@modelcontextprotocol/ext-tasks/client';
import type { Contender } from './contender.ts';
import { processOf } from './ext-tasks.ts';

export function extTasksV1(version: string): Contender {
  return {
    name: 'ext-tasks v1',
    version,
    protocols: ['mcp-2025-11-25'],
    can: ['cancel', 'come-back', 'input'],
    notes: [
      'Stock adapter (`createTaskSessionFromClient`): it marks no transport failure as retryable, so the retry in its core never acts.',
      'Leaves as its README shows it, by `session.close()`; `detach()`, which a caller has to know, cancels nothing.',
    ],
    async open(scene, memory) {
      const client = new McpClient({ name: 'compare', version: '1.0.0' }, { capabilities: { elicitation: {} } });
      await client.connect(new StreamableHTTPClientTransport(new URL(scene.url)) as never);
      const { tools } = await client.listTools();
      const declarations = new Map(tools.map((tool) => [tool.name, toolDeclarationFromMcpTool(tool)]));
      const session = createTaskSessionFromClient(client, {
        endpointId: 'compare',
        tools: { currentTool: (name) => declarations.get(name) },
        onInputRequest: async () => ({ action: 'accept', content: { word: await scene.ask() } }) as never,
      });
      return processOf(scene, memory, { session, close: () => client.close() });
    },
    stop: async () => undefined,
  };
}
