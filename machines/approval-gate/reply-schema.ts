/** Checks an answer against the requested schema, before it leaves. */
import { z } from 'zod';
import { type Json, jsonProblem } from '../digest.ts';
import { compiledSchema } from '../json-schema/ajv.ts';
import type { InputReply } from '../operation-protocol.ts';

const ReplyShape = z.union([
  z.strictObject({ action: z.literal('accept'), content: z.record(z.string(), z.json()) }),
  z.strictObject({ action: z.literal('decline') }),
  z.strictObject({ action: z.literal('cancel') }),
]);

/** Validates what came from outside as one of the three answers. Throws a `ZodError`. */
export function parseReply(value: unknown): InputReply {
  ReplyShape.parse(value);
  // Not the parsed copy: that one leaves out a key called `__proto__`, and what leaves must be what was judged.
  return value as InputReply;
}

/** A question for a human has a small form; more than this is not compiled. */
const MAX_SCHEMA_CHARS = 65_536;

/** What is wrong with the answer, one line each; empty: nothing. A schema that cannot be compiled accepts no content. */
export function schemaProblems(schema: Json, reply: InputReply): readonly string[] {
  const unreadable = jsonProblem(reply);
  if (unreadable !== null) return [unreadable];
  const shape = ReplyShape.safeParse(reply);
  if (!shape.success) return [z.prettifyError(shape.error)];
  if (reply.action !== 'accept') return [];
  try {
    const misfits = compile(schema)(reply.content);
    return (misfits ?? []).map((error) => `${error.instancePath || 'content'}: ${error.message ?? error.keyword}`);
  } catch (error) {
    return [`the requested schema cannot be used: ${(error as Error).message}`];
  }
}

/** A schema comes from a server: compiled per question, never kept, and never allowed to fetch or to answer later. */
function compile(schema: Json) {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw new Error('it is not an object');
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) throw new Error('it is too large');
  // The forms that may be asked for are the same in every dialect.
  const { $schema: _, ...form } = schema as { readonly [key: string]: Json };
  return compiledSchema(form, '2020-12', { allErrors: true });
}
