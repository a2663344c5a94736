/**
 * The upgrade check: events that executors of one version recorded (`ExecutorOptions.record`), applied by the chart of
 * another. Whatever one took, the other has to take to the same record; whatever one refused, the other has to refuse (B9, B14).
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { RecordedEvent } from '../../../machines/actor/recorded-event.ts';
import { toolOperation } from '../../../machines/tool-operation/machine.ts';
import { explainRefusal } from '../../../machines/tool-operation/refusal.ts';
import {
  applyEvent,
  type OperationMachine,
  type OperationSnapshot,
  readSnapshot,
  stampedAt,
  statePath,
} from '../../../machines/tool-operation/snapshot.ts';
import { type Difference, NotARecording, type ReplayReport } from './report.ts';

/** The events of a file of JSON lines, one recorded event each. Throws `NotARecording`, with the line. */
export function readRecording(text: string): readonly RecordedEvent[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      // What an event of this type has to hold, the chart that meets it says.
      return [RecordedEvent.parse(JSON.parse(line)) as unknown as RecordedEvent];
    } catch (error) {
      const why = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
      throw new NotARecording(`line ${i + 1} is not a recorded event: ${why}`);
    }
  });
}

/**
 * Applies each event to the record that it met. Operations, and the processes that recorded them, may be mixed, in any order:
 * each event is judged by itself. `machine`: default the chart of this version.
 */
export function replayEvents(
  recorded: Iterable<RecordedEvent>,
  machine: OperationMachine = toolOperation,
): ReplayReport {
  const operations = new Set<string>();
  const differences: Difference[] = [];
  let [steps, refused] = [0, 0];
  for (const one of recorded) {
    operations.add(one.operationId);
    steps += 1;
    if (one.after === null) refused += 1;
    const says = judged(one, machine);
    const where = `${one.event.type} after revision ${one.revision}`;
    if (says !== null) differences.push({ operationId: one.operationId, where, says });
  }
  return { operations: operations.size, steps, refused, differences };
}

/** `null`: as it was recorded. */
function judged({ operationId, before, event, after }: RecordedEvent, machine: OperationMachine): string | null {
  try {
    const from = readSnapshot(operationId, before, machine);
    const next = applyEvent(machine, from, event);
    if (next === from) return after === null ? null : `was taken, is refused now: ${why(machine, from, event)}`;
    const led = `from ${statePath(from)} to ${statePath(next)}`;
    if (after === null) return `was refused, is taken now ${led}`;
    return unlike(readSnapshot(operationId, after, machine), stampedAt(next, event.at), led);
  } catch (error) {
    return (error as Error).message;
  }
}

const why = (machine: OperationMachine, from: OperationSnapshot, event: RecordedEvent['event']): string =>
  explainRefusal(machine, from, event).text;

function unlike(was: OperationSnapshot, is: OperationSnapshot, led: string): string | null {
  if (statePath(was) !== statePath(is)) return `led to ${statePath(was)}, leads ${led} now`;
  // As a record holds it: what is absent and what is undefined are the same there.
  const [before, now] = [was.context, is.context].map((context) => JSON.parse(JSON.stringify(context))) as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  const other = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (name) => !isDeepStrictEqual(before[name], now[name]),
  );
  return other.length === 0 ? null : `leads ${led} as before, with another ${other.join(', ')}`;
}
