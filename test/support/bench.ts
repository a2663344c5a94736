/**
 * One scripted server for all tests of a `describe` (its start costs most of a test), on a stage. Each test takes an
 * address of its own: an endpoint is its URL, so no executor of another test serves it.
 */
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Opened } from '../../machines/actor/store.ts';
import type { Endpoint, Executor, ExecutorOptions, OperationLedger, ToolCall } from '../../machines/index.ts';
import {
  type Script,
  type ScriptedOptions,
  type ScriptedServer,
  startScriptedServer,
} from '../kit/servers/mcp-2025-11-25.ts';
import { accepted, type LedgerKind, until, workCall } from './rig.ts';
import { type Stage, useStage } from './stage.ts';

export interface Bench {
  readonly stage: Stage;
  readonly ledger: OperationLedger;
  readonly server: ScriptedServer;
  /** An address of the server that nobody else uses. */
  address(): Endpoint & { readonly kind: 'http' };
  /** An executor on a ledger handle of its own, stopped after the test. */
  executor(options?: Partial<ExecutorOptions>): Promise<Executor>;
  call(script: Script, more?: Partial<ToolCall>): ToolCall;
}

/** Call inside a `describe`: gives the bench once the tests run. */
export function useBench(kind: LedgerKind, options: Partial<ScriptedOptions> = {}): () => Bench {
  const stage = useStage(kind);
  let server: ScriptedServer | null = null;
  let addresses = 0;
  beforeAll(async () => {
    server = await startScriptedServer(options);
  });
  afterEach(async () => {
    await server?.control({ op: 'clearFaults' });
  });
  afterAll(async () => {
    await server?.stop();
  });
  return () => {
    if (!server) throw new Error('the bench is set before the tests of its file run');
    const present = server;
    const address = () => ({ kind: 'http' as const, url: `${present.url}/${addresses++}` });
    return {
      stage: stage(),
      ledger: stage().ledger,
      server: present,
      address,
      executor: (given) => stage().rig.executor(given),
      call: (script, more) => workCall(address(), script, more),
    };
  };
}

export interface Started {
  readonly id: string;
  readonly taskId: string;
  readonly opened: Opened;
}

/** Submits a call and waits for a state in which the task's id is known (default: WORKING / polling). */
export async function started(executor: Executor, call: ToolCall, state = 'WORKING.polling'): Promise<Started> {
  const id = await accepted(executor, call);
  const opened = await until(executor, id, (current) => current === state);
  return { id, taskId: taskIdOf(opened), opened };
}

export function taskIdOf({ snapshot }: Opened): string {
  if (snapshot.context.taskId === null) throw new Error('no task id is known yet');
  return snapshot.context.taskId;
}

/** Requests of a method about one task. */
export async function asked(server: Pick<ScriptedServer, 'log'>, method: string, taskId: string): Promise<number> {
  const { requests } = await server.log();
  return requests.filter((request) => request.method === method && request.taskId === taskId).length;
}

/** `tools/call` requests with the submission key of this operation. */
export async function sends(
  server: Pick<ScriptedServer, 'log'>,
  executor: Pick<Executor, 'load'>,
  operationId: string,
): Promise<number> {
  const key = (await executor.load(operationId))?.snapshot.context.submissionKey;
  const { requests } = await server.log();
  return requests.filter(({ method, meta }) => method === 'tools/call' && meta['dev.toolop/submission-key'] === key)
    .length;
}

/** Answers that reached the server for one task, in order. */
export async function answersTo(
  server: Pick<ScriptedServer, 'log'>,
  taskId: string,
): Promise<readonly Record<string, unknown>[]> {
  return (await server.log()).answers.filter((answer) => answer.taskId === taskId).map(({ result }) => result);
}

/** Lets `count` questions pass, then says no: the record is created and nothing is sent. */
export function switchedOffAfter(count: number): () => boolean {
  let questions = 0;
  return () => questions++ < count;
}
