/** A way through the closed system, for people: as a sequence diagram, and as a test that is ready to be kept. */

import type { OperationMachine } from '../../../machines/tool-operation/snapshot.ts';
import type { Setting } from './contracts.ts';
import { expanded } from './explore.ts';
import { broken } from './invariants.ts';
import { System } from './system.ts';
import type { World } from './world.ts';

export type Trace = readonly { readonly label: string; readonly world: World }[];

const LANES = ['Human', 'A', 'B', 'Network', 'Server'] as const;

function lane(label: string): (typeof LANES)[number] {
  if (label.startsWith('human:') || label.startsWith('the execution epoch')) return 'Human';
  if (/^(the task|the server|the id|the session|the question)/.test(label)) return 'Server';
  const executor = /\b([AB])\b/.exec(label)?.[1];
  return executor === 'A' || executor === 'B' ? executor : 'Network';
}

/** Mermaid: each step in the lane of whoever does it, and the record's state wherever it changes. */
export function sequenceDiagram(system: System, trace: Trace, what: string): string {
  const lines = ['sequenceDiagram', ...LANES.map((name) => `  participant ${name}`), '  participant Ledger'];
  let path = system.record(system.start()).path;
  for (const { label, world } of trace) {
    const now = system.record(world).path;
    const from = lane(label);
    const words = label.replaceAll(';', ',');
    lines.push(now === path ? `  Note over ${from}: ${words}` : `  ${from}->>Ledger: ${words} (${now})`);
    path = now;
  }
  return [...lines, `  Note over Ledger: ${what}`].join('\n');
}

/** A test that plays this very way again. */
export function readyTest({ contract, bounds }: Setting, trace: Trace, what: string): string {
  const steps = trace.map(({ label }) => `      ${JSON.stringify(label)},`).join('\n');
  return `it(${JSON.stringify(`never: ${what}`)}, async () => {
  const found = await replay(
    { contract: ${JSON.stringify(contract)}, bounds: ${JSON.stringify(bounds)} },
    [
${steps}
    ],
  );
  expect(found).toEqual([]);
});`;
}

/** Plays labelled steps; gives what they break. A step that is no longer possible ends the way: the fault is gone. */
export async function replay(
  setting: Setting,
  labels: readonly string[],
  machine?: OperationMachine,
): Promise<string[]> {
  const system = new System(setting.contract, setting.bounds, machine);
  const found: string[] = [];
  let world = system.start();
  for (const label of labels) {
    const step = (await expanded(system, world)).find((candidate) => candidate.label === label);
    if (!step) break;
    world = step.next;
    const what = step.violation ?? broken(system, world);
    if (what !== null) found.push(what);
  }
  return found;
}
