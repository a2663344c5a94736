import { z } from 'zod';
import type { Json } from '../../../machines/digest.ts';
import { field, isObject } from '../../mcp/fields.ts';
import { readAs } from '../../mcp/read-as.ts';
import { compileSchema } from '../../mcp/schema.ts';

/** How a question is asked: a request of the protocol that goes to the client, without an id. */
export interface InputQuestion {
  /** Answers are checked of an elicitation only. */
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  /** Of that request: of an elicitation `message` and `requestedSchema`. */
  readonly params?: { readonly [key: string]: Json };
}

const Elicited = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).optional(),
});

/** Why a value cannot answer a question, or `null`. */
export function answerProblem(question: Json, answer: unknown): string | null {
  if (!isObject(answer)) return 'it is no object';
  if (field(question, 'method') !== 'elicitation/create') return null;
  const elicited = readAs(Elicited, answer);
  if (elicited === null) return 'it is not the answer of an elicitation';
  const schema = field(field(question, 'params'), 'requestedSchema');
  if (elicited.action !== 'accept' || !isObject(schema)) return null;
  const compiled = compileSchema(schema);
  return compiled.kind === 'check' ? compiled.check(elicited.content ?? {}) : null;
}
