import type { ErrorObject } from 'ajv';
import { compiledSchema } from '../../machines/json-schema/ajv.ts';

/** `null`: the value fits. Else where it does not, in words. */
export type SchemaCheck = (value: unknown) => string | null;

export type CompiledSchema =
  | { readonly kind: 'check'; readonly check: SchemaCheck }
  /** Nothing can be checked by it: unknown dialect, broken or remote reference, a pattern that takes too long. */
  | { readonly kind: 'unusable'; readonly problem: string };

const unusable = (problem: string): CompiledSchema => ({ kind: 'unusable', problem: problem.slice(0, 500) });

/** Compiles a JSON Schema of a tool: draft 2020-12 unless it says draft-07 itself (MCP 2025-11-25, SEP-1613). */
export function compileSchema(schema: object): CompiledSchema {
  const dialect: unknown = Reflect.get(schema, '$schema');
  const draft07 = typeof dialect === 'string' && dialect.includes('draft-07');
  try {
    const misfits = compiledSchema(schema, draft07 ? 'draft-07' : '2020-12');
    return {
      kind: 'check',
      check: (value) => {
        try {
          const found = misfits(value);
          return found === null ? null : explain(found[0]);
        } catch (error) {
          // Too deep for its recursion, or more steps than a check may take: not verified, so it does not fit.
          return `cannot be checked: ${(error as Error).message}`.slice(0, 500);
        }
      },
    };
  } catch (error) {
    return unusable((error as Error).message);
  }
}

/** The place and the rule, never the value: that can be a secret of the caller. */
function explain(error: ErrorObject | undefined): string {
  if (error === undefined) return 'does not fit';
  const missing: unknown = error.params.missingProperty ?? error.params.additionalProperty;
  const detail = typeof missing === 'string' ? ` (${missing})` : '';
  return `at ${error.instancePath === '' ? '/' : error.instancePath}: ${error.message ?? error.keyword}${detail}`;
}
