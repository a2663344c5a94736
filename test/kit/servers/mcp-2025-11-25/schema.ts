/** What a scripted server takes of what it is told; the types (`options.ts`) say what each of it means. */
import { z } from 'zod';
import { aboutServer, aboutTask, Fields, fault, HttpStatus, Ms, Name, Text } from '../schema.ts';
import type { Control, ScriptedOptions } from './options.ts';

const flag = z.boolean().exactOptional();

export const Options = z.strictObject({
  tasks: flag,
  cancel: flag,
  lookup: flag,
  dedup: flag,
  retentionMs: z.number().nullable().exactOptional(),
  asksAgain: flag,
  json: flag,
  resumable: flag,
  stateless: flag,
  protocolVersion: Name.nullable().exactOptional(),
  limits: Fields.exactOptional(),
  receipts: flag,
  describe: Text.exactOptional(),
} satisfies { [N in keyof ScriptedOptions]: z.ZodType<ScriptedOptions[N]> }) satisfies z.ZodType<
  Partial<ScriptedOptions>
>;

const FaultCommand = z.discriminatedUnion('kind', [
  fault('rpc', { code: z.number(), message: Text.exactOptional() }),
  fault('answer', { result: Fields }),
  fault('delay', { ms: Ms }),
  fault('hold', {}),
  fault('silence', {}),
  fault('http', { status: HttpStatus, retryAfter: Text.exactOptional() }),
  fault('resetBefore', {}),
  fault('reset', {}),
  fault('truncate', {}),
  fault('malformed', { eventStream: z.boolean().exactOptional() }),
  fault('emptyStream', {}),
]);

export const Command = z.discriminatedUnion('op', [
  FaultCommand,
  aboutServer('clearFaults', {}),
  aboutServer('release', {}),
  aboutServer('reset', {}),
  aboutServer('set', { options: Options }),
  aboutTask('complete', {}),
  aboutTask('fail', { code: z.number().exactOptional() }),
  aboutTask('status', { status: Name }),
  aboutTask('statuses', { statuses: z.array(Name).max(100_000) }),
  aboutServer('lyingCancel', { on: z.boolean() }),
  aboutTask('forget', { receipt: z.boolean().exactOptional() }),
  aboutTask('expire', { inMs: Ms }),
  aboutTask('reuse', { createdAt: Name.exactOptional() }),
  aboutTask('ask', { message: Text }),
  aboutTask('askAgain', {}),
  aboutServer('forgetDone', {}),
  aboutServer('dropSessions', {}),
  aboutServer('exit', {}),
]) satisfies z.ZodType<Control>;
