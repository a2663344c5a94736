/**
 * Path templates of `google.api.http`: literals and variables, `{name}` (one segment), `{name=projects/*}` and
 * `{name=projects/**}`. Only fields at the top of the request can be bound.
 */
import type { Json } from '../../machines/digest.ts';

export interface PathTemplate {
  /** The arguments that go into the path. */
  readonly variables: readonly string[];
  fill(args: Readonly<Record<string, Json>>): { readonly path: string } | { readonly problem: string };
}

interface Variable {
  readonly name: string;
  readonly pattern: RegExp;
  readonly shape: string;
}

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?:=([^{}]+))?$/;
const SHAPE = /^(?:\*|\*\*|[A-Za-z0-9._~-]+)(?:\/(?:\*|\*\*|[A-Za-z0-9._~-]+))*$/;
const LITERAL = /^[A-Za-z0-9._~:/-]*$/;

/** Throws an `Error` that says what is wrong with a template. */
export function parseTemplate(template: string): PathTemplate {
  if (!template.startsWith('/')) throw new Error('it does not start with "/"');
  const parts: (string | Variable)[] = template.split(/(\{[^{}]*\})/).map((part) => {
    if (part.startsWith('{')) return variableOf(part.slice(1, -1));
    if (!LITERAL.test(part)) throw new Error(`"${part}" is neither a variable nor a plain piece of a path`);
    return part;
  });
  const variables = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
  if (new Set(variables).size < variables.length) throw new Error('it binds a variable twice');
  return {
    variables,
    fill(args) {
      let path = '';
      for (const part of parts) {
        if (typeof part === 'string') {
          path += part;
          continue;
        }
        const given = Object.hasOwn(args, part.name) ? args[part.name] : undefined;
        const text = typeof given === 'number' || typeof given === 'boolean' ? String(given) : given;
        if (typeof text !== 'string')
          return { problem: `the argument ${part.name} is missing: it is part of the path` };
        const encoded = encodePath(text);
        if (encoded === null || !part.pattern.test(text)) {
          return { problem: `the argument ${part.name} does not have the form ${part.shape}` };
        }
        path += encoded;
      }
      return { path };
    },
  };
}

/** A resource name as a path; `null`: as a path it would mean something else (empty, or walking up). */
export function encodePath(name: string): string | null {
  const segments = name.split('/');
  if (
    /\p{Surrogate}/u.test(name) ||
    segments.some((segment) => segment === '' || segment === '.' || segment === '..')
  ) {
    return null;
  }
  return segments.map((segment) => encodeURIComponent(segment)).join('/');
}

function variableOf(text: string): Variable {
  const [, name, shape = '*'] = VARIABLE.exec(text) ?? [];
  if (name === undefined || !SHAPE.test(shape)) throw new Error(`{${text}} is not a variable of the form {name=a/*}`);
  const segments = shape.split('/');
  if (segments.slice(0, -1).includes('**')) throw new Error(`{${text}} has "**" before its end`);
  const pattern = segments
    .map((segment) => {
      if (segment === '*') return '[^/]+';
      return segment === '**' ? '.+' : segment.replaceAll('.', '\\.');
    })
    .join('/');
  return { name, shape, pattern: new RegExp(`^${pattern}$`, 's') };
}
