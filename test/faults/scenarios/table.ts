import { busy } from './busy.ts';
import { cancel } from './cancel.ts';
import { identity } from './identity.ts';
import { input } from './input.ts';
import { order } from './order.ts';
import { result } from './result.ts';
import type { Scenario } from './scenario.ts';
import { submission } from './submission.ts';

/** Every fault of the brief, F1 to F11. */
export const scenarios: readonly Scenario[] = [
  ...submission,
  ...order,
  ...input,
  ...cancel,
  ...result,
  ...identity,
  ...busy,
];
