import { bullmq } from './bullmq.ts';
import type { OpenContender } from './contender.ts';
import { floor } from './floor.ts';
import { AT_ONCE, ours, WAITING } from './ours.ts';

export const contenders = {
  ours: ours(AT_ONCE),
  'ours, waiting': ours(WAITING),
  floor,
  bullmq: bullmq(false),
  'bullmq, waiting': bullmq(true),
} as const satisfies Record<string, OpenContender>;

export type ContenderName = keyof typeof contenders;
