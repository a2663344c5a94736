/** What must hold after every input, whatever it was. */
import { isDeepStrictEqual } from 'node:util';
import type { ToolOperationContext } from '../../machines/tool-operation/context.ts';
import type { OperationEvent } from '../../machines/tool-operation/events.ts';
import {
  type OperationSnapshot,
  readSnapshot,
  statePath,
  writeSnapshot,
} from '../../machines/tool-operation/snapshot.ts';
import { ancestors, arrows, leaves, type Node, pathOf } from '../machines/chart.ts';

const builtIns = { Object, Array, Function, String, Number, Boolean, RegExp, Error, Map, Set, Promise, Buffer };
const prototypes = Object.entries(builtIns).map(([name, { prototype }]) => ({
  name,
  prototype: prototype as object,
  keys: Reflect.ownKeys(prototype).length,
}));
const objectMembers = Reflect.ownKeys(Object.prototype).map(
  (key) => [key, Reflect.getOwnPropertyDescriptor(Object.prototype, key)?.value as unknown] as const,
);

/** Nobody wrote into what all objects inherit from. */
export function assertUnpolluted(): void {
  for (const { name, prototype, keys } of prototypes) {
    if (Reflect.ownKeys(prototype).length !== keys) throw new Error(`${name}.prototype was polluted`);
  }
  for (const [key, value] of objectMembers) {
    if (Reflect.getOwnPropertyDescriptor(Object.prototype, key)?.value !== value)
      throw new Error(`Object.prototype.${String(key)} was replaced`);
  }
}

export function holds(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

const leafPaths: ReadonlySet<string> = new Set(leaves.map(pathOf));

/** The record can be written, opened again, and written again as the very same text. */
export function assertOpensAgain(snapshot: OperationSnapshot): void {
  const text = writeSnapshot(snapshot);
  const again = readSnapshot(snapshot.context.operationId, text);
  holds(leafPaths.has(statePath(again)), `${statePath(again)} is no state of the chart`);
  holds(statePath(again) === statePath(snapshot), 'the record opened in another state');
  holds(again.status === snapshot.status, 'the record opened with another status');
  holds(isDeepStrictEqual(JSON.parse(writeSnapshot(again)), JSON.parse(text)), 'the record changed by being opened');
}

const firstLeaf = (node: Node): Node => {
  const inside = node.initial?.target[0] as Node | undefined;
  return inside === undefined ? node : firstLeaf(inside);
};
const allowed = new Map<string, Set<string>>();
for (const leaf of leaves) {
  for (const { from, event, targets } of arrows) {
    if (!ancestors(leaf).includes(from)) continue;
    const key = `${pathOf(leaf)} ${event}`;
    const ends = allowed.get(key) ?? new Set([pathOf(leaf)]);
    for (const one of targets) ends.add(pathOf(firstLeaf(one)));
    allowed.set(key, ends);
  }
}

/** Only an arrow of the chart was taken, and the record can be opened again. */
export function assertLawful(before: OperationSnapshot, after: OperationSnapshot, event: OperationEvent): void {
  if (after === before) return;
  const [from, to] = [statePath(before), statePath(after)];
  holds(allowed.get(`${from} ${event.type}`)?.has(to) === true, `${from} went to ${to} on ${event.type}`);
  assertOpensAgain(after);
  const [was, is] = [before.context, after.context];
  for (const field of UNCHANGING) {
    holds(JSON.stringify(was[field]) === JSON.stringify(is[field]), `${event.type} changed ${field}`);
  }
  if (event.type !== 'epoch.adopt') holds(was.executionEpoch === is.executionEpoch, `${event.type} changed the epoch`);
  if (event.type !== 'cancel.request')
    holds(was.cancelGeneration === is.cancelGeneration, `${event.type} raised a cancel`);
  if (event.type !== 'submit.requeue') holds(was.attempt === is.attempt, `${event.type} made another attempt`);
  if (event.type !== 'submit.begin')
    holds(is.sentThroughAttempt <= was.sentThroughAttempt, `${event.type} says that something was sent`);
  if (event.type !== 'terminal.accept') holds(after.status === 'active', `${event.type} ended the operation`);
  if (was.taskId !== null) holds(was.taskId === is.taskId, `${event.type} changed the task`);
}

const UNCHANGING = [
  'schema',
  'operationId',
  'namespace',
  'principal',
  'callNodeId',
  'requestDigest',
  'tool',
  'protocol',
  'endpoint',
  'submissionKey',
  'keyValidUntil',
  'capabilities',
  'policy',
  'session',
  'createdAt',
] as const satisfies readonly (keyof ToolOperationContext)[];
