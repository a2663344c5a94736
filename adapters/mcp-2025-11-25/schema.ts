import { Ajv, type ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsModule from 'ajv-formats';

/** `null`: the value fits. Else where it does not, in words. */
export type SchemaCheck = (value: unknown) => string | null;

// The package's types describe CommonJS, where the function is also the module.
const addFormats = formatsModule as unknown as (ajv: Ajv | Ajv2020) => void;

/**
 * Compiles a JSON Schema of a tool: draft 2020-12 unless it says draft-07 itself (MCP 2025-11-25, SEP-1613).
 * `null`: it cannot be compiled (unknown dialect, broken or remote reference).
 */
export function compileSchema(schema: object): SchemaCheck | null {
  const dialect: unknown = Reflect.get(schema, '$schema');
  // An asynchronous validator answers with a promise, which would count as "fits".
  if (Reflect.get(schema, '$async') === true) return null;
  const draft07 = typeof dialect === 'string' && dialect.includes('draft-07');
  // A new instance each time: two tools may use one `$id`, and a schema of a server must not stay in ours.
  const options = { strict: false, allErrors: false, validateFormats: true, logger: false } as const;
  const ajv = draft07 ? new Ajv(options) : new Ajv2020(options);
  addFormats(ajv);
  try {
    const validate = ajv.compile(schema);
    return (value) => (validate(value) ? null : explain(validate.errors?.[0]));
  } catch {
    return null;
  }
}

/** The place and the rule, never the value: that can be a secret of the caller. */
function explain(error: ErrorObject | undefined): string {
  if (error === undefined) return 'does not fit';
  const missing: unknown = error.params.missingProperty ?? error.params.additionalProperty;
  const detail = typeof missing === 'string' ? ` (${missing})` : '';
  return `at ${error.instancePath === '' ? '/' : error.instancePath}: ${error.message ?? error.keyword}${detail}`;
}
