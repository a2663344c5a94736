import type { Target } from '../target.ts';
import { commandLines } from './arguments.ts';
import { chart } from './chart.ts';
import { http, http2026 } from './http.ts';
import { answers, forms } from './humans.ts';
import { ledger } from './ledger.ts';
import { lines } from './lines.ts';
import { scriptReplies } from './replies.ts';
import { schemas } from './schemas.ts';
import { snapshots } from './snapshots.ts';
import { stdio } from './stdio.ts';
import { words } from './words.ts';

export const TARGETS: readonly Target[] = [
  stdio,
  http,
  http2026,
  lines,
  chart,
  snapshots,
  scriptReplies,
  schemas,
  answers,
  forms,
  words,
  commandLines,
  ledger,
];
