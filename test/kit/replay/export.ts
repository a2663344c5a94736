/**
 * The upgrade check for what `toolop export` wrote, redacted or not: whether another version of the chart opens the record, and still
 * draws each step that the operation took. The facts themselves are not in such a file, so no guard is asked; `events.ts` asks them.
 */
import { z } from 'zod';
import { NOT_LISTENING } from '../../../machines/actor/telemetry/measure.ts';
import { RECORD_SCHEMA } from '../../../machines/tool-operation/context.ts';
import { toolOperation } from '../../../machines/tool-operation/machine.ts';
import { type OperationMachine, readSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import { chartOf } from '../../../visualizer/chart/graph.ts';
import { OperationExport } from '../../../visualizer/export/schema.ts';
import { type Difference, NotARecording, type ReplayReport } from './report.ts';

/**
 * `exported`: the parsed JSON of `toolop export --format json`. Throws `NotARecording` for anything else. `machine`: default the
 * chart of this version.
 */
export function replayExport(exported: unknown, machine: OperationMachine = toolOperation): ReplayReport {
  const parsed = OperationExport.safeParse(exported);
  if (!parsed.success) throw new NotARecording(`this is no JSON of "toolop export": ${z.prettifyError(parsed.error)}`);
  const { record, history, machine: writer, view } = parsed.data;
  const { operationId } = view;
  const differences: Difference[] = [];
  const differs = (where: string, says: string): void => void differences.push({ operationId, where, says });

  // The digest that stands for the key in a redacted file has another form than a key.
  const context = parsed.data.redacted ? { ...Object(record.context), submissionKey: '0'.repeat(64) } : record.context;
  const stored = { schema: RECORD_SCHEMA, machineVersion: writer.version, value: record.value, context };
  try {
    readSnapshot(operationId, JSON.stringify(stored), machine);
  } catch (error) {
    differs('the record', (error as Error).message);
  }

  const chart = chartOf(machine);
  const states = new Set(chart.states.map(({ path }) => path));
  const guards = new Set([NOT_LISTENING, ...Object.keys(machine.implementations.guards)]);
  let [state, refused] = ['', 0];
  for (const [i, { event, from, to, refused: sayingNo }] of history.entries()) {
    const where = `line ${i + 1} of the history (${event})`;
    if (sayingNo !== undefined) {
      refused += 1;
      const gone = sayingNo.map((guard) => guard.replace(/^not /, '')).filter((guard) => !guards.has(guard));
      if (gone.length > 0) differs(where, `was refused by a guard that is gone: ${gone.join(', ')}`);
      continue;
    }
    if (from !== state) differs(where, `begins in ${from}, after a line that ended in ${state || 'nothing'}`);
    const drawn = chart.edges.some(
      (edge) =>
        edge.from.includes(from) &&
        (edge.stays ? from : edge.to) === to &&
        edge.transitions.some((transition) => transition.event === event),
    );
    if (from !== '' && !drawn) differs(where, `led from ${from} to ${to}: there is no such arrow now`);
    if (from === '' && !states.has(to)) differs(where, `began in ${to}: there is no such state now`);
    state = to;
  }
  if (history.length > 0 && state !== record.state)
    differs('the history', `ends in ${state}, and the record is in ${record.state}`);
  return { operations: 1, steps: history.length, refused, differences };
}
