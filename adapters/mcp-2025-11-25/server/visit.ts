import { AsyncLocalStorage } from 'node:async_hooks';
import type { TaskRecord } from '../../mcp/server/record.ts';

/**
 * On whose behalf code runs. The SDK's stores are told a session, and a session is not a person: who asks (and whose task
 * it is) travels with the asynchronous context of the request, also into the work that it began.
 */
export interface Visit {
  readonly owner: string;
  /** Questions that were written to the reader of this request. */
  readonly handed: Set<string>;
  /** The task that was made with the submission key of this call, before its tool was asked. */
  reserved: TaskRecord | null;
}

const visits = new AsyncLocalStorage<Visit>();

export function visit<T>(owner: string, reserved: TaskRecord | null, body: () => T): T {
  return visits.run({ owner, handed: new Set(), reserved }, body);
}

/** Fails closed: without it, anybody could read anything. */
export function currentVisit(): Visit {
  const current = visits.getStore();
  if (current === undefined) throw new Error('nobody is asking: the server was not given to install()');
  return current;
}
