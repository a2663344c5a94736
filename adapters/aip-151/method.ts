/** A method of an API that starts long-running operations, as its user declares it: AIP-151 has no descriptor to ask for. */
import { z } from 'zod';
import { digestOf } from '../../machines/digest.ts';
import { compiledSchema, type Validator } from '../../machines/json-schema/ajv.ts';
import { type PathTemplate, parseTemplate } from './path-template.ts';

const field = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a field');

/**
 * One method of an API. It is strict, and its digest is the version of the tool: what is changed here is another tool (B3).
 */
export const MethodDescriptor = z.strictObject({
  httpMethod: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  /** Path template of `google.api.http`, e.g. `/v1/{parent=projects/*}/reports:generate`. Variables are filled from the arguments. */
  path: z.string().max(2_000),
  /** As in `google.api.http`: `*`: all other arguments; a field: that argument, the rest as query; `none`: no body. */
  body: z.union([z.literal('*'), z.literal('none'), field]).optional(),
  /** Where in the answer the Operation stands, `a.b`; default: it is the answer. */
  operationAt: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/, 'not a path of fields')
    .optional(),
  /** What stands before an operation's name in the path of `GET` and `:cancel`. */
  operationsPath: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*$/, 'not a path like /v1')
    .default('/v1'),
  /** AIP-155, only where the API documents it: the field of the request id, and how long a repeated one is recognised, ms. */
  requestId: z.strictObject({ field, retentionMs: z.number().int().positive() }).optional(),
  /** Does the API implement `CancelOperation`? */
  cancel: z.boolean().default(true),
  /** The `@type` that a response must have, with or without its `type.googleapis.com/`. */
  responseType: z.string().min(1).max(500).optional(),
  /** JSON Schema (2020-12) of the arguments. */
  argumentsSchema: z.record(z.string(), z.unknown()).optional(),
});
/** What the schema of this name takes: fields with a default may be left out. */
export type MethodDescriptor = z.input<typeof MethodDescriptor>;

export interface Method extends Omit<z.output<typeof MethodDescriptor>, 'body'> {
  readonly name: string;
  /** The digest of all that is declared: another descriptor is another tool (B3). */
  readonly version: string;
  readonly body: string;
  readonly template: PathTemplate;
  readonly misfits: Validator | null;
}

/** Throws an `Error` that names the method and what is wrong with it. */
export function methodsOf(table: Readonly<Record<string, MethodDescriptor>>): ReadonlyMap<string, Method> {
  if (typeof table !== 'object' || table === null) {
    throw new Error("aip-151 needs methods: { 'name of the tool': { path: '/v1/…' } }");
  }
  return new Map(Object.entries(table).map(([name, given]) => [name, methodOf(name, given)]));
}

function methodOf(name: string, given: MethodDescriptor): Method {
  const wrong = (what: string): Error => new Error(`${JSON.stringify(name)} is not a method of aip-151: ${what}`);
  if (name.length < 1 || name.length > 512) throw wrong('its name has to have 1 to 512 characters');
  const parsed = MethodDescriptor.safeParse(given);
  if (!parsed.success) {
    throw wrong(
      parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'descriptor'}: ${message}`).join('; '),
    );
  }
  const { data } = parsed;
  const body = data.body ?? (data.httpMethod === 'DELETE' ? 'none' : '*');
  const template = attempt('path', wrong, () => parseTemplate(data.path));
  const { argumentsSchema } = data;
  const misfits =
    argumentsSchema === undefined
      ? null
      : attempt('argumentsSchema', wrong, () => compiledSchema(argumentsSchema, '2020-12'));
  for (const [what, taken] of [
    ['body', body],
    ['requestId', data.requestId?.field],
  ] as const) {
    if (taken !== undefined && template.variables.includes(taken)) throw wrong(`${what}: ${taken} is part of the path`);
  }
  if (data.requestId?.field === body) throw wrong('requestId: its field is the body');
  return { ...data, name, body, template, misfits, version: digestOf({ name, ...data, body }) };
}

function attempt<T>(what: string, wrong: (what: string) => Error, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw wrong(`${what}: ${(error as Error).message}`);
  }
}
