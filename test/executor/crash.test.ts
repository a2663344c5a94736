/**
 * `kill -9` of the executor in every state. The process freezes itself right after the commit of the state, so that the
 * kill hits that state and no other; a second process takes over when the lease has ended.
 */
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../machines/index.ts';
import { eventually, FAST, LEDGERS, until, workCall } from '../support/rig.ts';
import type { Control, Script, ScriptedOptions } from '../support/scripted-server.ts';
import { callsSeen, pathOf, useStage } from '../support/stage.ts';

interface Death {
  readonly state: string;
  readonly script: Script;
  readonly ends: 'completed' | 'PARKED';
  readonly server?: Partial<ScriptedOptions>;
  /** What is prepared on the server before the call is made. */
  readonly prepare?: Control;
}

const DEATHS: readonly Death[] = [
  { state: 'created', script: { ms: 20 }, ends: 'completed' },
  { state: 'SUBMITTING.sending', script: { ms: 20 }, ends: 'PARKED' },
  {
    state: 'SUBMISSION_UNKNOWN',
    script: { ms: 20 },
    server: { lookup: true },
    prepare: { op: 'fault', kind: 'reset', method: 'tools/call' },
    ends: 'completed',
  },
  {
    state: 'NOT_FOUND_SAFE',
    script: { ms: 20 },
    server: { lookup: true },
    prepare: { op: 'fault', kind: 'resetBefore', method: 'tools/call' },
    ends: 'completed',
  },
  {
    state: 'CLASSIFYING_NOT_FOUND',
    script: { ms: 20 },
    server: { lookup: true },
    prepare: { op: 'fault', kind: 'rpc', code: -32602, method: 'tasks/get' },
    ends: 'completed',
  },
  { state: 'WORKING.polling', script: { ms: 100 }, ends: 'completed' },
  { state: 'WORKING.listening', script: { ms: 50, ask: 1 }, ends: 'completed' },
  { state: 'TERMINAL_OBSERVED.outcome', script: { ms: 20 }, ends: 'completed' },
  { state: 'FETCHING_RESULT.verified', script: { ms: 20 }, ends: 'completed' },
  { state: 'ACCEPTED', script: { ms: 20 }, ends: 'completed' },
];

describe.each(LEDGERS)('kill -9 of an executor on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it.each(DEATHS)(
    'in $state: $ends, and one tools/call at the most',
    async ({ state, script, ends, server: options, prepare }) => {
      const server = await stage().server(options);
      if (prepare) await server.control(prepare);
      const call: ToolCall = workCall(server.endpoint, script);
      const answerWith = { word: 'yes' };
      const first = stage().process({ call, freezeAt: state, answerWith, policy: FAST });
      await first.frozen();
      await first.kill();
      const second = stage().process({ url: server.url, answerWith, policy: FAST });
      const reader = await stage().rig.executor();
      const id = reader.operationIdOf(call);
      if (ends === 'PARKED') {
        const { snapshot } = await until(reader, id, (path) => path.startsWith('PARKED'), 15_000);
        expect(snapshot.context.parked?.reason).toBe('no-lookup');
        expect(await callsSeen(server)).toBeLessThanOrEqual(1);
      } else {
        const { receipt } = await eventually(() => reader.outcome(id), 15_000);
        expect(receipt.outcome).toBe('completed');
        expect((await server.log()).executions).toBe(1);
      }
      expect(await stage().ledger.audit()).toEqual([]);
      await second.stop();
    },
  );

  it('between sending the call and committing the reply, no look-up: PARKED, one tools/call seen', async () => {
    const server = await stage().server();
    await server.control({ op: 'fault', kind: 'delay', ms: 3_000, method: 'tools/call' });
    const call = workCall(server.endpoint, { ms: 20 });
    const first = stage().process({ call, policy: FAST });
    await eventually(async () => (await callsSeen(server)) === 1);
    await first.kill();
    stage().process({ url: server.url, policy: FAST });
    const reader = await stage().rig.executor();
    const { snapshot } = await until(reader, reader.operationIdOf(call), (path) => path.startsWith('PARKED'), 15_000);
    expect(snapshot.context.parked?.reason).toBe('no-lookup');
    expect(await callsSeen(server)).toBe(1);
  });

  it('... and with a look-up: the operation is found and finished', async () => {
    const server = await stage().server({ lookup: true });
    await server.control({ op: 'fault', kind: 'silence', method: 'tools/call' });
    const call = workCall(server.endpoint, { ms: 20 });
    const first = stage().process({ call, policy: FAST });
    await eventually(async () => ((await server.log()).executions ?? 0) === 1);
    await first.kill();
    stage().process({ url: server.url, policy: FAST });
    const reader = await stage().rig.executor();
    const { receipt } = await eventually(() => reader.outcome(reader.operationIdOf(call)), 15_000);
    expect(receipt.outcome).toBe('completed');
    expect(await callsSeen(server)).toBe(1);
  });

  it('B4 G2: the same call started by two processes at once: one operation, both get the receipt', async () => {
    const server = await stage().server();
    const call = workCall(server.endpoint, { ms: 200 });
    const processes = [stage().process({ call, policy: FAST }), stage().process({ call, policy: FAST })];
    const outcomes = await Promise.all(processes.map((process) => process.line((line) => 'outcome' in line)));
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(await callsSeen(server)).toBe(1);
  });

  it('while a cancel is owed: the second process sends it', async () => {
    const server = await stage().server();
    const call = workCall(server.endpoint, { outcome: 'hold' });
    const first = stage().process({ call, policy: FAST });
    const reader = await stage().rig.executor();
    const id = reader.operationIdOf(call);
    await until(reader, id, (path) => path === 'WORKING.polling');
    first.signal('SIGSTOP');
    await reader.cancel(id);
    await first.kill();
    stage().process({ url: server.url, policy: FAST });
    const { receipt } = await eventually(() => reader.outcome(id), 15_000);
    expect(receipt).toMatchObject({ outcome: 'cancelled', cancelGeneration: 1 });
  });

  it('over stdio the server dies too: PARKED with that reason, never called again', async () => {
    const { stdioCommand } = await import('../support/scripted-server.ts');
    const call = workCall(stdioCommand(), { outcome: 'hold' });
    const first = stage().process({ call, policy: FAST });
    const reader = await stage().rig.executor();
    const id = reader.operationIdOf(call);
    await until(reader, id, (path) => path === 'WORKING.polling');
    await first.kill();
    const { snapshot } = await until(reader, id, (path) => path.startsWith('PARKED'), 20_000);
    expect(snapshot.context.parked?.reason).toBe('server-gone');
    expect((await pathOf(stage().ledger, id)).filter((path) => path === 'SUBMITTING.sending')).toHaveLength(1);
  });
});
