import type { Fault } from './options.ts';
import type { World } from './world.ts';

export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}
type Answer = Record<string, unknown>;

/** Counts what arrives, before the SDK looks at it. */
export function record(world: World, message: Message, headers: Record<string, string | string[] | undefined>): void {
  if (message.method === undefined) return;
  const { log } = world;
  log.counts[message.method] = (log.counts[message.method] ?? 0) + 1;
  if (message.id === undefined) return;
  const { _meta, ...params } = message.params ?? {};
  const { taskId } = params;
  log.requests.push({
    method: message.method,
    taskId: typeof taskId === 'string' ? taskId : null,
    at: Date.now(),
    meta: { ...(_meta as Record<string, unknown> | undefined) },
    params,
    headers,
  });
}

/** What a fault answers in place of the server; `null`: nothing. The SDK would not let most of it through. */
export function answerOf(fault: Fault | null, message: Message): Answer | null {
  const envelope = { jsonrpc: '2.0', id: message.id };
  if (fault?.kind === 'answer') return { ...envelope, result: fault.result };
  if (fault?.kind !== 'rpc') return null;
  const { code, message: text, data } = fault;
  return { ...envelope, error: { code, message: text ?? 'injected', ...(data === undefined ? {} : { data }) } };
}

export async function waitBefore(world: World, fault: Fault | null): Promise<void> {
  if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
  if (fault?.kind === 'hold') await world.released();
}

/** What becomes of the server's own answer; `null`: it is never sent. */
export async function amended(world: World, fault: Fault | null, answer: Answer): Promise<Answer | null> {
  if (fault?.kind === 'silence') return null;
  if (fault?.kind === 'holdAnswer') await world.released();
  if (fault?.kind !== 'amend' || typeof answer.result !== 'object') return answer;
  return { ...answer, result: { ...answer.result, ...fault.fields } };
}
