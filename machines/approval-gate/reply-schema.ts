/** Checks an answer against the requested schema, before it leaves. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { z } from 'zod';
import type { Json } from '../digest.ts';
import type { InputReply } from '../operation-protocol.ts';

const ReplyShape = z.union([
  z.strictObject({ action: z.literal('accept'), content: z.record(z.string(), z.json()) }),
  z.strictObject({ action: z.literal('decline') }),
  z.strictObject({ action: z.literal('cancel') }),
]);

/** Validates what came from outside as one of the three answers. Throws a `ZodError`. */
export function parseReply(value: unknown): InputReply {
  return ReplyShape.parse(value) as InputReply;
}

/** What is wrong with the answer, one line each; empty: nothing. A schema that cannot be compiled accepts no content. */
export function schemaProblems(schema: Json, reply: InputReply): readonly string[] {
  const shape = ReplyShape.safeParse(reply);
  if (!shape.success) return [z.prettifyError(shape.error)];
  if (reply.action !== 'accept') return [];
  // A schema comes from a server: compiled per question, never kept, and never allowed to fetch.
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: true });
  formatsPlugin.default(ajv);
  try {
    const validate = ajv.compile(schema as object);
    if (validate(reply.content)) return [];
    return (validate.errors ?? []).map(
      (error) => `${error.instancePath || 'content'}: ${error.message ?? error.keyword}`,
    );
  } catch (error) {
    return [`the requested schema cannot be used: ${(error as Error).message}`];
  }
}
