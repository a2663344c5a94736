/**
 * The one place where a validator is made for a schema that a server wrote. Nothing in it can be made to run for long by
 * what the server says: patterns run in linear time (`linear-pattern.ts`), and so do the formats (a test measures them);
 * what is left are the steps of the check itself, and those are counted (`steps.ts`).
 * A schema with a pattern that has no such form does not compile, and says why.
 */
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsModule from 'ajv-formats';
import { linearPattern } from './linear-pattern.ts';
import { counted, Steps } from './steps.ts';

// The package's types describe CommonJS, where the function is also the module.
const addFormats = formatsModule as unknown as (ajv: Ajv | Ajv2020) => void;

/** More than this is not compiled, characters. */
const MAX_SCHEMA_CHARS = 1_000_000;

/** What does not fit; `null`: nothing. Throws when the value is too deep, or its check takes too many steps. */
export type Validator = (value: unknown) => readonly ErrorObject[] | null;

/** Throws for a schema that cannot be compiled, or that would answer later. */
export function compiledSchema(
  schema: object,
  dialect: 'draft-07' | '2020-12',
  options: Pick<Options, 'allErrors'> = {},
): Validator {
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) throw new Error('it is too large');
  const steps = new Steps();
  const validate = newAjv(dialect, options, steps).compile(schema);
  // An asynchronous validator answers with a promise, which would count as "fits".
  if ('$async' in validate) throw new Error('it would answer later');
  return (value) => {
    steps.begin();
    return validate(value) ? null : (validate.errors ?? []);
  };
}

/** A new instance each time: two schemas may use one `$id`, and a schema of a server must not stay in ours. */
export function newAjv(
  dialect: 'draft-07' | '2020-12',
  options: Pick<Options, 'allErrors'> = {},
  steps = new Steps(),
): Ajv | Ajv2020 {
  // `code` is what standalone code would call the engine by: none is made here.
  const regExp = Object.assign((pattern: string) => linearPattern(pattern, steps), { code: 'linearPattern' });
  const all: Options = {
    ...{ strict: false, validateFormats: true, logger: false, ...options },
    // A definition that is copied to wherever it is referred to makes code without bound.
    inlineRefs: false,
    code: { regExp, process: counted },
  };
  const ajv = Object.assign(dialect === 'draft-07' ? new Ajv(all) : new Ajv2020(all), { steps });
  addFormats(ajv);
  // Its own pattern takes quadratic time.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text));
  return ajv;
}
