import { acceptance } from './acceptance.ts';
import { cancel } from './cancel.ts';
import { identity } from './identity.ts';
import { input } from './input.ts';
import { missing } from './missing.ts';
import { reconciliation } from './reconciliation.ts';
import { result } from './result.ts';
import { status } from './status.ts';
import { submission } from './submission.ts';

export const stories = {
  identity,
  submission,
  status,
  missing,
  result,
  input,
  cancel,
  reconciliation,
  acceptance,
} as const;
