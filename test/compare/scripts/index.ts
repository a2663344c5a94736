import type { Script } from '../script.ts';
import { cancel } from './cancel.ts';
import { identity } from './identity.ts';
import { input } from './input.ts';
import { plain } from './plain.ts';
import { polling } from './polling.ts';
import { result } from './result.ts';
import { submission } from './submission.ts';

export const SCRIPTS: readonly Script[] = [
  ...plain,
  ...submission,
  ...polling,
  ...input,
  ...cancel,
  ...result,
  ...identity,
];
