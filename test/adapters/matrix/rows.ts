/**
 * What a tasks client must bring a call to, at a server that does one thing: the rows of the matrix. A client is an
 * `OperationProtocol`; to try another one, wrap it as that and put it in place of the `client` of a
 * column of `matrix.test.ts`.
 */
import { expect } from 'vitest';
import type { Executor, ToolCall } from '../../../machines/index.ts';
import { accepted, until } from '../../support/rig.ts';

/** What a call of a server does. `deaf`: it does not hear a cancel, or hears it too late. */
export type Kind = 'quick' | 'hold' | 'toolError' | 'fault' | 'asks' | 'deaf' | 'resumable';

/** A server, as the matrix handles it. */
export interface Stand {
  call(kind: Kind): ToolCall;
  /** A call that was held goes on and completes. */
  release(call: ToolCall): Promise<void>;
  /** The task of a call is gone. */
  forget(call: ToolCall): Promise<void>;
  /** The server's process is killed, and starts again at the same address. */
  restart(): Promise<void>;
  /** The protocol's own word for a tool error. */
  readonly toolErrorIs: 'completed' | 'failed';
  /** What a server that was restarted over a call makes of it. */
  readonly afterRestart: 'completed' | 'PARKED';
}

/** Why a row does not apply to a server: what it would be about does not exist there. */
export type Lacks = Readonly<Partial<Record<RowName, string>>>;
export type RowName =
  | 'complete'
  | 'fail'
  | 'tool error'
  | 'input'
  | 'cancel won'
  | 'cancel lost'
  | 'expiry'
  | 'restart of the server';

const working = async (executor: Executor, call: ToolCall): Promise<string> => {
  const id = await accepted(executor, call);
  await until(executor, id, (state) => state === 'WORKING.polling');
  return id;
};

export const ROWS: Readonly<Record<RowName, (stand: Stand, executor: Executor) => Promise<void>>> = {
  complete: async (stand, executor) => {
    const { receipt, output } = await executor.wait(await accepted(executor, stand.call('quick')));
    expect(receipt).toMatchObject({ outcome: 'completed', status: 'completed', isError: false });
    expect(output?.kind).toBe('result');
  },
  fail: async (stand, executor) => {
    const { receipt, output } = await executor.wait(await accepted(executor, stand.call('fault')));
    expect(receipt).toMatchObject({ outcome: 'failed', status: 'failed', resultKind: 'error' });
    expect(output?.kind).toBe('error');
  },
  'tool error': async (stand, executor) => {
    const { receipt } = await executor.wait(await accepted(executor, stand.call('toolError')));
    expect(receipt).toMatchObject({
      outcome: 'failed',
      status: stand.toolErrorIs,
      resultKind: 'result',
      isError: true,
    });
  },
  input: async (stand, executor) => {
    const id = await accepted(executor, stand.call('asks'));
    const { snapshot } = await until(executor, id, (state) => state === 'INPUT_REQUIRED.awaiting');
    const { input, inputRound: round } = snapshot.context;
    const bound = { operationId: id, round, schemaDigest: input?.schemaDigest ?? '' };
    expect(await executor.answer({ ...bound, reply: { action: 'decline' } })).toMatchObject({ kind: 'taken' });
    expect((await executor.wait(id)).receipt.outcome).not.toBe('cancelled');
    expect(await executor.answer({ ...bound, reply: { action: 'decline' } })).toMatchObject({ kind: 'refused' });
  },
  'cancel won': async (stand, executor) => {
    const id = await working(executor, stand.call('hold'));
    expect(await executor.cancel(id)).toMatchObject({ kind: 'taken' });
    const { receipt, output } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'cancelled', released: false, effectReconciliationRequired: true });
    expect(output).toBeNull();
  },
  'cancel lost': async (stand, executor) => {
    const call = stand.call('deaf');
    const id = await working(executor, call);
    await stand.release(call);
    await executor.cancel(id);
    const { receipt } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', effectReconciliationRequired: false });
  },
  expiry: async (stand, executor) => {
    const call = stand.call('hold');
    const id = await working(executor, call);
    await stand.forget(call);
    const { snapshot } = await until(executor, id, (state) => state.startsWith('PARKED'));
    expect(['expired', 'unknown-id', 'session-lost']).toContain(snapshot.context.parked?.reason);
    expect(await executor.outcome(id)).toBeNull();
  },
  'restart of the server': async (stand, executor) => {
    const call = stand.call('resumable');
    const id = await working(executor, call);
    await stand.restart();
    if (stand.afterRestart === 'PARKED') {
      // A server may say 404 for a session that it does not know, or something that proves nothing: then the budget ends it.
      await until(executor, id, (state) => state.startsWith('PARKED'), 40_000);
      expect(await executor.outcome(id)).toBeNull();
      return;
    }
    await stand.release(call);
    expect((await executor.wait(id)).receipt).toMatchObject({ outcome: 'completed', attempt: 1 });
  },
};
