/**
 * The one place where a validator is made for a schema that a server wrote. Nothing in it can be made to run for long by
 * what the server says: patterns run in linear time (`linear-pattern.ts`), and so do the formats (a test measures them).
 * A schema with a pattern that has no such form does not compile, and says why.
 */
import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsModule from 'ajv-formats';
import { linearPattern } from './linear-pattern.ts';

// The package's types describe CommonJS, where the function is also the module.
const addFormats = formatsModule as unknown as (ajv: Ajv | Ajv2020) => void;

// `code` is what standalone code would call the engine by: none is made here.
const regExp = Object.assign((pattern: string) => linearPattern(pattern), { code: 'linearPattern' });

/** A new instance each time: two schemas may use one `$id`, and a schema of a server must not stay in ours. */
export function newAjv(dialect: 'draft-07' | '2020-12', options: Pick<Options, 'allErrors'> = {}): Ajv | Ajv2020 {
  const all: Options = { strict: false, validateFormats: true, logger: false, code: { regExp }, ...options };
  const ajv = dialect === 'draft-07' ? new Ajv(all) : new Ajv2020(all);
  addFormats(ajv);
  // Its own pattern takes quadratic time.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text));
  return ajv;
}
