/** The tools that the official conformance scenarios of the tasks extension need, on the half of 2026-07-28. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallToolResult, Server } from '@modelcontextprotocol/server';
import { type InputQuestion, serversHalf20260728 } from '../../adapters/mcp-2026-07-28/server/index.ts';
import { serve2026 } from '../servers-half/serve-2026.ts';

const says = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
const anything = { type: 'object' } as const;

function question(message: string, property: string, type: 'string' | 'boolean'): InputQuestion {
  const requestedSchema = { type: 'object', properties: { [property]: { type } }, required: [property] };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

/** Starts the server in this process; answers its address. */
export async function startConformanceServer(redis: string): Promise<string> {
  const half = serversHalf20260728({
    redis,
    retentionMs: 60_000,
    pollIntervalMs: 100,
    // One client, on loopback, without credentials.
    principalOf: () => 'conformance',
  });
  half
    .tool('greet', { inputSchema: anything, taskSupport: 'forbidden' }, async (args) => {
      return says(`Hello, ${(args as { name?: string }).name}!`);
    })
    .tool(
      'slow_compute',
      { inputSchema: { type: 'object', properties: { seconds: { type: 'number' }, label: { type: 'string' } } } },
      async (args, { signal }) => {
        const { seconds = 1, label = '' } = args as { seconds?: number; label?: string };
        await sleep(seconds * 1_000, undefined, { signal });
        return says(`computed ${label}`);
      },
    )
    .tool('failing_job', { inputSchema: anything, taskSupport: 'required' }, async (_args, { signal }) => {
      await sleep(1_000, undefined, { signal });
      throw new Error('it did not work');
    })
    .tool('protocol_error_job', { inputSchema: anything }, async () => {
      throw Object.assign(new Error('the server has a fault'), { code: -32603 });
    })
    .tool('confirm_delete', { inputSchema: anything }, async (args, { ask }) => {
      const answer = await ask('confirm', question('Delete it?', 'confirm', 'boolean'));
      return says(`${JSON.stringify(args)}: ${JSON.stringify(answer)}`);
    })
    .tool('multi_input', { inputSchema: anything }, async (_args, { ask }) => {
      const both = [
        ask('first', question('First?', 'name', 'string')),
        ask('second', question('Second?', 'name', 'string')),
      ];
      return says(JSON.stringify(await Promise.all(both)));
    })
    .tool(
      'test_tool_with_task',
      {
        inputSchema: anything,
        taskSupport: 'required',
        before: () => ({ user_name: question('Who is it?', 'name', 'string') }),
      },
      async (_args, { answers }) => says(`Hello, ${JSON.stringify(answers.user_name)}`),
    );
  const info = { name: 'conformance', version: '1.0.0' };
  return serve2026(() => half.install(new Server(info, { capabilities: half.capabilities })), 0);
}
