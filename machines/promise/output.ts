/** What a call returned, as the type that its caller says it has. */
import type { Json } from '../digest.ts';
import { compiledSchema } from '../json-schema/ajv.ts';
import type { Payload } from '../operation-protocol.ts';

/** Any validator of the Standard Schema interface (zod, valibot, arktype, ...). */
export interface StandardSchema<T> {
  /** Version 1 of that interface; of it only `validate` is called. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<T> | Promise<Checked<T>>;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}
type Checked<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/** A validator, or a JSON schema (2020-12, or draft-07 if it says so). */
export type OutputSchema<T> = StandardSchema<T> | { readonly [keyword: string]: Json };

export type Reading<T> =
  | { readonly kind: 'fits'; readonly value: T }
  | { readonly kind: 'misfits'; readonly issues: readonly string[] };
export type OutputReader<T> = (payload: Payload) => Promise<Reading<T>>;

const isStandard = <T>(schema: OutputSchema<T>): schema is StandardSchema<T> => '~standard' in schema;

/** Throws for a JSON schema that cannot be compiled. Without a schema the output is what the call returned, whole. */
export function outputReader<T>(schema?: OutputSchema<T>): OutputReader<T> {
  if (schema === undefined) return async ({ value }) => ({ kind: 'fits', value: value as T });
  if (isStandard(schema)) {
    return async (payload) => {
      const checked = await schema['~standard'].validate(structured(payload));
      return checked.issues === undefined
        ? { kind: 'fits', value: checked.value }
        : { kind: 'misfits', issues: checked.issues.map(({ message, path }) => placed(message, path)) };
    };
  }
  const { $schema } = schema;
  const draft07 = typeof $schema === 'string' && $schema.includes('draft-07');
  const misfits = compiledSchema(schema, draft07 ? 'draft-07' : '2020-12', { allErrors: true });
  return async (payload) => {
    const value = structured(payload);
    const found = misfits(value);
    return found === null
      ? { kind: 'fits', value: value as T }
      : {
          kind: 'misfits',
          issues: found.map(({ instancePath, message, keyword }) => `${instancePath || '/'}: ${message ?? keyword}`),
        };
  };
}

/** The part of a result that has a shape of its own, where a protocol has such a part. */
function structured({ value }: Payload): unknown {
  return typeof value === 'object' && value !== null && 'structuredContent' in value
    ? (value as { readonly structuredContent: unknown }).structuredContent
    : value;
}

const placed = (message: string, path: readonly unknown[] = []): string =>
  `/${path.map((part) => (typeof part === 'object' && part !== null && 'key' in part ? part.key : part)).join('/')}: ${message}`;
