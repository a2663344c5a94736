/** Steps of the closed model that real parts do not take; ways through them are not planned. */
import type { Step, System } from '../system/system.ts';
import { At, Drive, driveAt, type World } from '../system/world.ts';

export function isPerformable({ records, contract }: System, from: World, { label }: Step): boolean {
  // The adapter shows the next question of a channel when the one before is answered.
  if (label.startsWith('the question comes to '))
    return !records.get(from[At.record] as number).path.startsWith('INPUT_REQUIRED');
  // Only a server that knows keys says how long it remembers them.
  if (label === 'the key deadline passes' && contract.lookup === 'none') return false;
  // A repetition is not on its way for longer than its key is good for: real time does not end in between.
  if (/^lookup .*arrives: silence/.test(label)) return false;
  const hearer = /^([AB]) hears result failure to result/.exec(label)?.[1];
  if (hearer === undefined) return true;
  // The adapter takes an error for the outcome of a failed task only, the model also for that of one that is called completed.
  const issued = from[driveAt(hearer === 'B' ? 1 : 0, Drive.record)] as number;
  return records.get(issued).snapshot.context.terminal?.status !== 'completed';
}
