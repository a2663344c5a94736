import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../mcp/fields.ts';
import { PROTOCOL_VERSION } from './names.ts';

/** Which parameter a method is routed by (SEP-2243; for tasks the extension's HTTP binding). */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** The headers that mirror a request for whoever routes it without reading it; a server refuses what differs (-32020). */
export function standardHeaders({ method, params }: JSONRPCRequest): Readonly<Record<string, string>> {
  const name: unknown = params?.[NAMED_BY[method] ?? ''];
  return {
    'MCP-Protocol-Version': PROTOCOL_VERSION,
    'Mcp-Method': encoded(method),
    ...(typeof name === 'string' ? { 'Mcp-Name': encoded(name) } : {}),
  };
}

/** What an HTTP header cannot carry as it is goes as Base64, and so does what would be taken for that. */
function encoded(value: string): string {
  const plain = /^[\x20-\x7e]*$/.test(value) && value.trim() === value;
  const looksEncoded = value.startsWith('=?base64?') && value.endsWith('?=');
  return plain && !looksEncoded ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** An argument that a tool wants mirrored: where it is, and in which header. */
interface Mirrored {
  readonly path: readonly string[];
  readonly header: string;
}

export type Mirroring =
  | { readonly kind: 'mirrored'; readonly parameters: readonly Mirrored[] }
  | { readonly kind: 'invalid'; readonly problem: string };

const MARK = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
const MAX_LEVELS = 100;

/**
 * The `x-mcp-header` marks of an input schema. Over HTTP a tool that has a wrong one must be taken as not there: a mark is
 * good on a property of a plain type that is reached through `properties` alone, and no name may come twice.
 */
export function mirroringOf(inputSchema: object): Mirroring {
  const parameters: Mirrored[] = [];
  const names = new Set<string>();
  const problems: string[] = [];
  const walk = (schema: unknown, path: readonly string[] | null, level: number): void => {
    if (typeof schema !== 'object' || schema === null) return;
    if (level > MAX_LEVELS) return void problems.push('it is nested too deep');
    if (Array.isArray(schema)) {
      for (const one of schema) walk(one, null, level + 1);
      return;
    }
    const { [MARK]: mark, type, properties, ...others } = schema as Readonly<Record<string, unknown>>;
    if (mark !== undefined) {
      if (path === null || path.length === 0) problems.push('a mark is where no argument is');
      else if (typeof mark !== 'string' || !TOKEN.test(mark)) problems.push('a mark is no header name');
      else if (!TYPES.includes(type)) problems.push('a marked argument is of no plain type');
      else if (names.has(mark.toLowerCase())) problems.push('two marks have one name');
      else {
        names.add(mark.toLowerCase());
        parameters.push({ path, header: `Mcp-Param-${mark}` });
      }
    }
    if (isObject(properties)) {
      for (const [name, one] of Object.entries(properties))
        walk(one, path === null ? null : [...path, name], level + 1);
    }
    for (const [keyword, one] of Object.entries(others)) if (!VALUES.includes(keyword)) walk(one, null, level + 1);
  };
  walk(inputSchema, [], 0);
  const problem = problems[0];
  return problem === undefined ? { kind: 'mirrored', parameters } : { kind: 'invalid', problem };
}

/** Keywords that hold values of the caller, not schemas. */
const VALUES = ['default', 'const', 'enum', 'examples'];

/** The headers of one call. An argument that is absent or null has none. */
export function parameterHeaders(parameters: readonly Mirrored[], args: unknown): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { path, header } of parameters) {
    const value = path.reduce(
      (part, name) => (isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined),
      args,
    );
    if (typeof value === 'string') headers[header] = encoded(value);
    else if (typeof value === 'boolean' || Number.isSafeInteger(value)) headers[header] = String(value);
  }
  return headers;
}
