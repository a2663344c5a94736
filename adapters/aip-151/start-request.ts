import type { Json } from '../../machines/digest.ts';
import type { Submission } from '../../machines/operation-protocol.ts';
import type { HttpRequest } from './http/link.ts';
import type { Method } from './method.ts';
import { SHADOW_HEADER } from './names.ts';
import { requestIdOf } from './request-id.ts';

type Fields = Readonly<Record<string, Json>>;

export type StartRequest =
  | { readonly kind: 'request'; readonly request: HttpRequest }
  | { readonly kind: 'unfit'; readonly problem: string };

/**
 * The HTTP request that starts an operation, by the rules of `google.api.http`. A function of method, arguments and key
 * (and, for a shadow, of that) alone: a repetition under the same key is the same request, byte for byte.
 */
export function startRequest(
  method: Method,
  args: Json,
  { submissionKey, shadow }: Pick<Submission, 'submissionKey' | 'shadow'>,
): StartRequest {
  const start = withoutHeaders(method, args, submissionKey);
  if (start.kind === 'unfit' || !shadow) return start;
  return { kind: 'request', request: { ...start.request, headers: { [SHADOW_HEADER]: 'true' } } };
}

function withoutHeaders(method: Method, args: Json, submissionKey: string): StartRequest {
  if (!isFields(args)) return unfit('the arguments are not an object');
  const { requestId } = method;
  if (requestId !== undefined && Object.hasOwn(args, requestId.field)) {
    return unfit(`the argument ${requestId.field} is the request id, which is made from the submission key`);
  }
  const filled = method.template.fill(args);
  if ('problem' in filled) return unfit(filled.problem);

  const bound = new Set(method.template.variables);
  const rest: Fields = Object.fromEntries([
    ...Object.entries(args).filter(([name]) => !bound.has(name)),
    ...(requestId === undefined ? [] : [[requestId.field, requestIdOf(submissionKey)] as const]),
  ]);
  if (method.body === '*') return made(method, filled.path, [], rest);

  const { [method.body]: content, ...others } = rest;
  const withBody = method.body !== 'none';
  if (withBody && content === undefined) return unfit(`the argument ${method.body} is missing: it is the body`);
  const query: [string, string][] = [];
  const problem = addQuery(query, '', withBody ? others : rest);
  return problem === null ? made(method, filled.path, query, withBody ? content : undefined) : unfit(problem);
}

function made(
  method: Method,
  path: string,
  query: readonly (readonly [string, string])[],
  body: Json | undefined,
): StartRequest {
  const { httpMethod } = method;
  return { kind: 'request', request: { method: httpMethod, path, query, ...(body === undefined ? {} : { body }) } };
}

/** Nested fields by their path, repeated ones as repeated parameters; a list of messages has no such form. */
function addQuery(query: [string, string][], prefix: string, fields: Fields): string | null {
  for (const [name, value] of Object.entries(fields)) {
    const path = prefix + name;
    for (const one of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
      if (one === null) continue;
      if (typeof one !== 'object') {
        query.push([path, String(one)]);
      } else if (Array.isArray(value) || !isFields(one)) {
        return `the argument ${path} cannot be a part of the query`;
      } else {
        const problem = addQuery(query, `${path}.`, one);
        if (problem !== null) return problem;
      }
    }
  }
  return null;
}

function isFields(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unfit(problem: string): StartRequest {
  return { kind: 'unfit', problem };
}
