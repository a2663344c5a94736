/**
 * Ends a run whose thread is stuck: an endless loop in a parser lets no timer of its own thread fire. Says which input it
 * was, so that the run can be taken up there.
 */
import { Worker } from 'node:worker_threads';

const CODE = `
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const beats = new Int32Array(workerData.shared);
let last = -1, since = Date.now();
setInterval(() => {
  const beat = Atomics.load(beats, 0);
  if (beat !== last) { last = beat; since = Date.now(); return; }
  if (Atomics.load(beats, 1) < 0 || Date.now() - since < workerData.limitMs) return;
  const name = workerData.names[Atomics.load(beats, 1)];
  writeSync(2, '\\nHANG: ' + name + ' has not come back for ' + workerData.limitMs + ' ms\\n' +
    'again: npm run fuzz -- --seed ' + workerData.seed + ' --only ' + name + ' --batch ' + Atomics.load(beats, 2) +
    ' (input ' + Atomics.load(beats, 3) + ' of the batch)\\n');
  process.kill(process.pid, 'SIGKILL');
}, 500);
`;

export interface Watchdog {
  /** An input begins; `target` by its place in the list of names. */
  beat(target: number, batch: number, input: number): void;
  /** Nothing is under way. */
  rest(): void;
  stop(): Promise<void>;
}

export function startWatchdog(names: readonly string[], seed: number, limitMs: number): Watchdog {
  const shared = new SharedArrayBuffer(16);
  const beats = new Int32Array(shared);
  beats[1] = -1;
  const worker = new Worker(CODE, { eval: true, execArgv: [], workerData: { shared, names, seed, limitMs } });
  worker.unref();
  return {
    beat(target, batch, input) {
      Atomics.store(beats, 3, input);
      Atomics.store(beats, 2, batch);
      Atomics.store(beats, 1, target);
      Atomics.add(beats, 0, 1);
    },
    rest() {
      Atomics.store(beats, 1, -1);
    },
    async stop() {
      await worker.terminate();
    },
  };
}
