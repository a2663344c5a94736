/** The gates one after the other: each has the machine for itself, so that its figures are its own. */
import { setMaxListeners } from 'node:events';
import { g1 } from './g1/gate.ts';
import { g2 } from './g2.ts';
import { g3 } from './g3.ts';
import { g4 } from './g4.ts';
import { g5 } from './g5.ts';
import { g6 } from './g6.ts';
import type { GateName, Judged, Run, Verdict } from './gate.ts';

const gates: Readonly<Record<GateName, (run: Run) => Promise<Judged>>> = {
  G1: g1,
  G2: g2,
  G3: g3,
  G4: g4,
  G5: g5,
  G6: g6,
};
const TOLD_EVERY_MS = 1_000;

export async function runGates(names: readonly GateName[], run: Run): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  let toldAt = 0;
  // One signal for everything that waits: many listeners are meant.
  setMaxListeners(0, run.signal);
  for (const gate of names) {
    run.signal.throwIfAborted();
    const began = performance.now();
    const progress = (text: string) => {
      if (performance.now() - toldAt < TOLD_EVERY_MS) return;
      toldAt = performance.now();
      run.progress(`${gate}  ${text}`);
    };
    const judged = await gates[gate]({ ...run, progress });
    verdicts.push({ gate, ...judged, ms: Math.round(performance.now() - began) });
  }
  return verdicts;
}
