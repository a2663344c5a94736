/** Brings a server to the answer that the walk wants of it: it needs telling only where the answer is not the truth. */
import type { Method } from '../system/performance.ts';
import type { Theatre } from './theatre.ts';

export interface Wanted {
  readonly method: Method;
  readonly answer: string;
  readonly isLie: boolean;
  readonly operationId: string;
}

const NOT_FOUND = { kind: 'rpc', code: -32602, message: 'MCP error -32602: Task not found' } as const;
const nothing = async () => undefined;

/** Gives what to do after the answer. */
export async function settle(theatre: Theatre, wanted: Wanted): Promise<() => Promise<void>> {
  const { server } = theatre;
  const { method, answer, isLie } = wanted;
  if (answer === 'cancel heard' && theatre.protocol === 'mcp-2025-11-25') {
    await server.control({ op: 'fault', method: 'tasks/cancel', kind: 'answer', result: {} });
    return nothing;
  }
  if (answer === 'rejected') {
    // The one refusal that this adapter takes for proof: refused before anything looked at the call.
    await server.control({ op: 'fault', method: 'tools/call', kind: 'http', status: 403 });
    return nothing;
  }
  const listed = /asks (\d)$/.exec(answer)?.[1];
  if (listed !== undefined) await server.listAnswered(Number(listed));
  if (!isLie) return nothing;
  const clear = () => server.control({ op: 'clearFaults' });
  switch (answer) {
    case 'F cancelled':
      await server.control({ op: 'lyingCancel', on: true });
      return () => server.control({ op: 'lyingCancel', on: false });
    case 'cancel refused':
      await server.control({ op: 'fault', method: 'tasks/cancel', ...NOT_FOUND });
      return clear;
    case 'no such task':
      await server.control({ op: 'fault', method: 'tasks/get', ...NOT_FOUND });
      return clear;
    case 'no such result':
      // The adapter asks for the status before it believes this.
      await server.control({ op: 'fault', method: 'tasks/result', ...NOT_FOUND });
      await server.control({ op: 'fault', method: 'tasks/get', ...NOT_FOUND });
      return clear;
    case 'result lied':
      await server.control({
        op: 'fault',
        method: 'tasks/result',
        kind: 'answer',
        result: { content: [{ type: 'text', text: 'never done' }] },
      });
      return clear;
    case 'result invalid':
      await server.control({ op: 'fault', method: 'tasks/result', kind: 'answer', result: { content: 'garbage' } });
      return clear;
    case 'acknowledged foreign':
      await foreign(theatre, wanted.operationId);
      return clear;
  }
  if (method === 'status') await status(theatre, answer);
  return clear;
}

/** A status that is not the task's, or the birth of another task. */
async function status({ server }: Theatre, answer: string): Promise<void> {
  const [, word = '', born = ''] = /status (\w+) (\w+)$/.exec(answer) ?? [];
  if (born !== 'reborn') return server.control({ op: 'statuses', taskId: 'last', statuses: [word] });
  const taskId = (await server.created()).at(-1) ?? '';
  return server.control({
    op: 'fault',
    method: 'tasks/get',
    kind: 'answer',
    result: described(taskId, word, '2020-01-01T00:00:00.000Z'),
  });
}

/** An id that the ledger knows as another operation's (F9). */
async function foreign({ server, ledger, call }: Theatre, operationId: string): Promise<void> {
  const record = await ledger.load(operationId);
  const { context } = JSON.parse(record?.snapshot ?? '{}') as { context: { endpoint: { id: string } } };
  await ledger.ownTask(context.endpoint.id, 'foreign', `${operationId}-other-${call.callNodeId}`);
  await server.control({
    op: 'fault',
    method: 'tools/call',
    kind: 'answer',
    result: { task: described('foreign', 'working', new Date().toISOString()) },
  });
}

const described = (taskId: string, state: string, createdAt: string) => ({
  taskId,
  status: state,
  createdAt,
  lastUpdatedAt: createdAt,
  ttl: null,
  pollInterval: 1,
});
