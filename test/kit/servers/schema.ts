/** The parts of which both revisions' scripted servers make the schemas of their options and commands. */
import { z } from 'zod';

/** A method, a task id, a key. */
export const Name = z.string().min(1).max(1_000);
/** Longer ones the command itself could not bring. */
export const Text = z.string().max(10_000_000);
/** As long as a timer can wait. */
export const Ms = z
  .number()
  .min(0)
  .max(2 ** 31 - 1);
export const HttpStatus = z.number().int().min(200).max(599);
/** Whatever it is, some server might say it. */
export const Fields = z.record(z.string(), z.unknown());

/** A command about one task. */
export const aboutTask = <O extends string, S extends z.ZodRawShape>(op: O, shape: S) =>
  z.strictObject({ op: z.literal(op), taskId: Name, ...shape });

/** A command about the server. */
export const aboutServer = <O extends string, S extends z.ZodRawShape>(op: O, shape: S) =>
  z.strictObject({ op: z.literal(op), ...shape });

/** The command that plans a fault of this kind. */
export const fault = <K extends string, S extends z.ZodRawShape>(kind: K, shape: S) =>
  z.strictObject({
    op: z.literal('fault'),
    method: Name,
    times: z.number().int().min(1).max(1_000_000_000).exactOptional(),
    taskId: Name.exactOptional(),
    kind: z.literal(kind),
    ...shape,
  });
