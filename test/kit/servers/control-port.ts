/** The control endpoint of a scripted server: `POST /control` tells it something, `GET /control/log` and `/control/tasks` read. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toldBy } from '../told.ts';

export interface ControlPort {
  /** Throws what is wrong with it; nothing was done then. */
  apply(told: unknown): void;
  log(): unknown;
  tasks(): unknown;
}

export async function answerControl(
  request: IncomingMessage,
  response: ServerResponse,
  { apply, log, tasks }: ControlPort,
): Promise<void> {
  const asked = `${request.method} ${request.url}`;
  if (asked === 'GET /control/log') return void response.end(JSON.stringify(log()));
  if (asked === 'GET /control/tasks') return void response.end(JSON.stringify(tasks()));
  try {
    if (asked !== 'POST /control')
      throw new Error(`${asked} is not known; allowed: POST /control, GET /control/log, GET /control/tasks`);
    apply(await toldBy(request));
    response.end('{}');
  } catch (error) {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: (error as Error).message }));
  }
}

/** A world, as far as a command about a task needs it. */
interface Holder<T> {
  readonly log: { readonly created: readonly string[] };
  readonly tasks: ReadonlyMap<string, T>;
}

/** The task of a command; `last`: the one that was made last. Throws where there is none. */
export function heldTask<T>({ log, tasks }: Holder<T>, taskId: string): T {
  const id = taskId === 'last' ? log.created.at(-1) : taskId;
  if (id === undefined) throw new Error('no task was made since the start or the last reset: there is no "last" one');
  const task = tasks.get(id);
  if (task !== undefined) return task;
  const ids = [...tasks.keys()];
  const held = ids.length === 0 ? 'it holds none' : `it holds ${ids.length}, the last of them ${ids.at(-1)}`;
  throw new Error(`there is no task "${id.slice(0, 100)}"; ${held}`);
}
