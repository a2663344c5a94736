import type { Redis } from 'ioredis';
import { z } from 'zod';

/** What both revisions' halves are told. */
export interface HalfOptions {
  /** `redis://` or `rediss://` address, or a client whose settings are copied: the half opens connections of its own. */
  readonly redis: string | Redis;
  /** How long a submission key is remembered at least, ms: published, and what a look-up is worth (B13). */
  readonly retentionMs: number;
  /** One per server (all its processes share it). Default `default`. */
  readonly namespace?: string;
  /** Time to live of a task that asks for none, ms. Default one day. */
  readonly defaultTtlMs?: number;
  /** The longest time to live that is granted, ms. Default seven days. */
  readonly maxTtlMs?: number;
  /** How long an ended task can be read at least, also when its time to live is over, ms. Default one minute. */
  readonly keepEndedMs?: number;
  /** How often clients are told to ask, ms. Default one second. */
  readonly pollIntervalMs?: number;
  /** How long a process counts as alive after its last sign, ms. Default 15 s. It gives one every third of that. */
  readonly heartbeatMs?: number;
  /** How often a task may be begun: once, and again after a process died, where its tool is resumable. Default 3. */
  readonly maxRuns?: number;
  /**
   * `false`: also a Redis that may evict keys or that forgets them in a restart will do. Default: such a server is
   * refused, because "never created" would be a guess there.
   */
  readonly durable?: boolean;
  /** Hears of what went wrong in the background. Default: nobody. */
  readonly onError?: (error: Error) => void;
}

export type HalfSettings = Required<Omit<HalfOptions, 'redis'>>;

/** What is possible, ms: a timer of Node ends at 24 days, a date of JavaScript long after 100 years. */
const CENTURY_MS = 100 * 365 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const whole = (least: number, most: number) => {
  const wrong = `not a whole number from ${least} to ${most}`;
  return z.int(wrong).min(least, wrong).max(most, wrong);
};
const Given = z.object({
  redis: z.custom<string | Redis>(
    (value) =>
      typeof value === 'string'
        ? /^rediss?:\/\//.test(value)
        : typeof Reflect.get(Object(value), 'duplicate') === 'function',
    'neither a redis:// or rediss:// address nor an ioredis client',
  ),
  retentionMs: whole(1, CENTURY_MS),
  namespace: z.string('not a text').min(1, 'empty').optional(),
  defaultTtlMs: whole(0, CENTURY_MS).optional(),
  maxTtlMs: whole(0, CENTURY_MS).optional(),
  keepEndedMs: whole(0, CENTURY_MS).optional(),
  pollIntervalMs: whole(0, DAY_MS).optional(),
  heartbeatMs: whole(50, DAY_MS).optional(),
  maxRuns: whole(1, 1_000_000).optional(),
  durable: z.boolean('neither true nor false').optional(),
});

/** Throws a `TypeError` that names each option that cannot be used. */
export function halfSettings(options: HalfOptions): HalfSettings {
  const given = Given.safeParse(options);
  if (!given.success) {
    const wrong = given.error.issues.map(({ path, message }) => `${path.join('.') || 'options'}: ${message}`);
    throw new TypeError(`the options of the servers' half cannot be used: ${wrong.join('; ')}`);
  }
  return {
    retentionMs: options.retentionMs,
    namespace: options.namespace ?? 'default',
    defaultTtlMs: options.defaultTtlMs ?? 24 * 3_600_000,
    maxTtlMs: options.maxTtlMs ?? 7 * 24 * 3_600_000,
    keepEndedMs: options.keepEndedMs ?? 60_000,
    pollIntervalMs: options.pollIntervalMs ?? 1_000,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    maxRuns: options.maxRuns ?? 3,
    durable: options.durable ?? true,
    onError: options.onError ?? (() => undefined),
  };
}

/** Without it everybody's tasks would be nobody's: told when the server is written, not with its first request. */
export function demandPrincipalOf(principalOf: unknown): void {
  if (typeof principalOf === 'function') return;
  throw new TypeError(
    "the options of the servers' half cannot be used: principalOf: not a function that names the caller",
  );
}
