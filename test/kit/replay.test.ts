import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Executor, OperationLedger, RecordedEvent } from '../../machines/index.ts';
import { toolOperation } from '../../machines/tool-operation/machine.ts';
import { collectOperation } from '../../visualizer/export/collect.ts';
import type { OperationExport } from '../../visualizer/export/schema.ts';
import { accepted, type Rig, startRig, until, workCall } from '../support/rig.ts';
import { NotARecording, readRecording, replayEvents, replayExport } from './index.ts';
import { type ScriptedServer, startScriptedServer } from './servers/mcp-2025-11-25.ts';

describe('a recorded operation on another version of the chart (B9, B14)', () => {
  let rig: Rig;
  let server: ScriptedServer;
  let recorded: readonly RecordedEvent[];
  let whole: OperationExport;
  let redacted: OperationExport;
  const directory = mkdtempSync(join(tmpdir(), 'toolop-replay-'));
  const file = join(directory, 'events.jsonl');

  const exportOf = async (ledger: OperationLedger, executor: Executor, id: string, secrets: boolean) => {
    const found = await collectOperation({ ledger, store: executor.env.store, secrets }, id);
    if (found?.schema !== 'toolop.operationExport') throw new Error('nothing was exported');
    // As it comes back from a file.
    return JSON.parse(JSON.stringify(found)) as OperationExport;
  };

  beforeAll(async () => {
    rig = await startRig('embedded');
    server = await startScriptedServer();
    const ledger = await rig.ledger();
    const executor = await rig.executor({
      ledger,
      record: (event) => appendFileSync(file, `${JSON.stringify(event)}\n`),
    });
    const { endpoint } = server;
    const done = await accepted(executor, workCall(endpoint, { ms: 300 }));
    const failed = await accepted(executor, workCall(endpoint, { outcome: 'rpcError' }));
    const held = await accepted(executor, workCall(endpoint, { outcome: 'hold', pollInterval: 30 }));
    await until(
      executor,
      held,
      (state, { snapshot }) => state === 'WORKING.polling' && snapshot.context.pollCursor > 2,
    );
    await executor.cancel(held, 'tester');
    const over = (state: string) => ['ACCEPTED', 'CANCELLED_ACCEPTED'].includes(state);
    for (const id of [done, failed, held]) await until(executor, id, over);
    // Late evidence of an operation that is over is refused.
    const { snapshot } = (await executor.load(done)) ?? {};
    if (!snapshot) throw new Error('the operation is gone');
    const { context } = snapshot;
    const late = readRecording(readFileSync(file, 'utf8')).find(({ event }) => event.type === 'poll.status');
    if (late) await executor.env.store.apply(context.operationId, late.event);
    recorded = readRecording(readFileSync(file, 'utf8'));
    whole = await exportOf(ledger, executor, done, true);
    redacted = await exportOf(ledger, executor, held, false);
  });
  afterAll(async () => {
    await rig.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('the same chart takes and refuses the same', () => {
    const report = replayEvents(recorded);
    expect(report).toMatchObject({ operations: 3, differences: [] });
    expect(report.steps).toBeGreaterThan(12);
    expect(report.refused).toBeGreaterThan(0);
  });

  it('a chart that takes a fact of another attempt, or of another poll, is told apart', () => {
    const blind = toolOperation.provide({ guards: { matchesPollCursor: () => true } });
    const stale = recorded.flatMap((one) => {
      if (one.after === null || one.event.type !== 'poll.status' || one.event.task.status !== 'working') return [];
      const { claims } = one.event;
      return [
        { ...one, event: { ...one.event, claims: { ...claims, pollCursor: claims.pollCursor + 7 } }, after: null },
      ];
    });
    expect(stale.length).toBeGreaterThan(0);
    expect(replayEvents(stale).differences).toEqual([]);
    const { differences } = replayEvents(stale, blind);
    expect(differences.length).toBe(stale.length);
    expect(differences[0]?.says).toMatch(/^was refused, is taken now from WORKING\.polling/);
  });

  it('a chart that refuses what was taken says by which guard', () => {
    const deaf = toolOperation.provide({ guards: { matchesTaskId: () => false } });
    const { differences } = replayEvents(recorded, deaf);
    expect(differences.map(({ says }) => says)).toContainEqual(
      expect.stringMatching(/^was taken, is refused now: refused by .*matchesTaskId.* in WORKING\.polling/),
    );
  });

  it('another record after the same event is told by its fields', () => {
    const [first, ...others] = recorded.filter(({ after }) => after !== null);
    if (!first?.after) throw new Error('nothing was recorded');
    const after = JSON.parse(first.after) as { context: { attempt: number } };
    after.context.attempt += 1;
    const { differences } = replayEvents([{ ...first, after: JSON.stringify(after) }, ...others]);
    expect(differences).toEqual([expect.objectContaining({ says: expect.stringMatching(/with another attempt$/) })]);
  });

  it('a record that this version cannot open is a difference, not a crash', () => {
    const [first] = recorded;
    if (!first) throw new Error('nothing was recorded');
    const { differences } = replayEvents([{ ...first, before: first.before.replace('"SUBMITTING"', '"SENDING"') }]);
    expect(differences[0]?.says).toMatch(/a state that this version does not have/);
  });

  it.each(['nonsense', '{"schema":"toolop.recordedEvent"}', '[]'])('says which line is no event: %s', (line) => {
    const text = `${JSON.stringify(recorded[0])}\n\n${line}\n`;
    expect(() => readRecording(text)).toThrow(NotARecording);
    expect(() => readRecording(text)).toThrow(/^line 3 is not a recorded event/);
  });

  it.each(['whole', 'redacted'])('an exported operation, %s, has only steps that the chart draws', (which) => {
    const exported = which === 'whole' ? whole : redacted;
    expect(exported.redacted).toBe(which === 'redacted');
    const report = replayExport(exported);
    expect(report).toMatchObject({ operations: 1, differences: [] });
    expect(report.steps).toBeGreaterThan(3);
  });

  it('an exported history with a step that is not drawn, or with a gap, is told by its line', () => {
    const [first, second, third, ...rest] = whole.history;
    if (!first || !second || !third) throw new Error('a short history');
    const invented = { ...third, to: 'ACCEPTED' };
    expect(replayExport({ ...whole, history: [first, second, invented, ...rest] }).differences).toContainEqual(
      expect.objectContaining({
        where: `line 3 of the history (${third.event})`,
        says: expect.stringMatching(/no such arrow now/),
      }),
    );
    expect(replayExport({ ...whole, history: [first, third, ...rest] }).differences).toContainEqual(
      expect.objectContaining({
        where: `line 2 of the history (${third.event})`,
        says: expect.stringMatching(/^begins in /),
      }),
    );
  });

  it('a refusal by a guard that this version does not have is told', () => {
    const last = whole.history.at(-1);
    if (!last) throw new Error('no history');
    const refusal = { ...last, from: last.to, refused: ['not matchesTaskId', 'matchesMoon'] };
    const { differences, refused } = replayExport({ ...whole, history: [...whole.history, refusal] });
    expect(refused).toBeGreaterThan(0);
    expect(differences.map(({ says }) => says)).toEqual(['was refused by a guard that is gone: matchesMoon']);
  });

  it('anything else is no export, in one clear error', () => {
    expect(() => replayExport({ schema: 'operationView.v1' })).toThrow(NotARecording);
    expect(() => replayExport(null)).toThrow(/no JSON of "toolop export"/);
  });
});
