/** What a scripted server of 2026-07-28 takes of what it is told; the types (`options.ts`) say what each of it means. */
import { z } from 'zod';
import { aboutServer, aboutTask, Fields, fault, HttpStatus, Ms, Name, Text } from '../schema.ts';
import type { Control, ScriptedOptions } from './options.ts';

const flag = z.boolean().exactOptional();
const Status = z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']);

export const Options = z.strictObject({
  tasks: flag,
  lookup: flag,
  dedup: flag,
  retentionMs: z.number().nullable().exactOptional(),
  cancel: z.enum(['obey', 'ignore']).exactOptional(),
  cancelMs: Ms.exactOptional(),
  stream: flag,
  describe: Text.exactOptional(),
  mirror: flag,
} satisfies { [N in keyof ScriptedOptions]: z.ZodType<ScriptedOptions[N]> }) satisfies z.ZodType<
  Partial<ScriptedOptions>
>;

const FaultCommand = z.discriminatedUnion('kind', [
  fault('rpc', {
    code: z.number(),
    message: Text.exactOptional(),
    data: z.unknown().optional(),
    status: HttpStatus.exactOptional(),
  }),
  fault('answer', { result: z.unknown() }),
  fault('amend', { fields: Fields }),
  fault('delay', { ms: Ms }),
  fault('hold', {}),
  fault('holdAnswer', {}),
  fault('silence', {}),
  fault('http', {
    status: HttpStatus,
    retryAfter: Text.exactOptional(),
    body: Text.exactOptional(),
    type: Name.exactOptional(),
  }),
  fault('resetBefore', {}),
  fault('reset', {}),
  fault('truncate', {}),
  fault('text', { text: Text, type: Name.exactOptional() }),
]);

export const Command = z.discriminatedUnion('op', [
  FaultCommand,
  aboutServer('clearFaults', {}),
  aboutServer('release', {}),
  aboutServer('reset', {}),
  aboutServer('set', { options: Options }),
  aboutTask('complete', {}),
  aboutTask('fail', { code: z.number().exactOptional() }),
  aboutTask('status', { status: Status }),
  aboutTask('statuses', { statuses: z.array(Status).max(100_000) }),
  aboutTask('ask', { keys: z.array(Name).max(10_000) }),
  aboutTask('forget', { receipt: z.boolean().exactOptional() }),
  aboutTask('expire', { inMs: Ms }),
  aboutTask('pace', { pollIntervalMs: z.number() }),
  aboutTask('reuse', { createdAt: Name.exactOptional() }),
  aboutServer('endListens', { graceful: z.boolean() }),
  aboutServer('exit', {}),
]) satisfies z.ZodType<Control>;
