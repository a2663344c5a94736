import { z } from 'zod';
import { digestOf } from '../../machines/digest.ts';
import { META_SYNCHRONOUS_LIMIT } from './names.ts';
import type { Settings } from './options.ts';
import { readAs } from './read-as.ts';
import type { Connection } from './rpc/connection.ts';
import type { Reply } from './rpc/reply.ts';

/** A connection that is held open for more than a day is no synchronous call; and a timer of Node ends at 24 days. */
const MAX_SYNCHRONOUS_LIMIT_MS = 24 * 60 * 60 * 1000;

const Descriptor = z.looseObject({
  name: z.string(),
  title: z.unknown().optional(),
  description: z.unknown().optional(),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  annotations: z.unknown().optional(),
  execution: z.looseObject({ taskSupport: z.string().optional() }).optional().catch(undefined),
  _meta: z
    .looseObject({ [META_SYNCHRONOUS_LIMIT]: z.number().int().positive().max(MAX_SYNCHRONOUS_LIMIT_MS).optional() })
    .optional()
    .catch(undefined),
});

/** A tool as published, and its version: the digest of what a caller can rely on (B3). */
export interface Tool {
  readonly name: string;
  readonly version: string;
  readonly inputSchema: object;
  readonly outputSchema: object | null;
  readonly taskSupport: string;
  /** Within how long a call without a task is answered, as published; `null`: not (usably) published. */
  readonly synchronousLimitMs: number | null;
}

export type ToolSearch =
  | { readonly kind: 'tool'; readonly tool: Tool }
  | { readonly kind: 'absent' }
  /** The list could not be read. */
  | { readonly kind: 'failed'; readonly reply: Reply };

/** Looks for a tool in `tools/list`, page by page, within a bound. */
export async function findTool(
  connection: Connection,
  name: string,
  settings: Settings,
  signal?: AbortSignal,
): Promise<ToolSearch> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < settings.maxToolPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const reply = await connection.request('tools/list', params, { timeoutMs: settings.requestTimeoutMs, signal });
    if (reply.kind !== 'result') return { kind: 'failed', reply };
    const tools: unknown = reply.value.tools;
    for (const candidate of Array.isArray(tools) ? tools : []) {
      const tool = toolOf(candidate);
      if (tool?.name === name) return { kind: 'tool', tool };
    }
    const next: unknown = reply.value.nextCursor;
    if (typeof next !== 'string' || seen.has(next)) break;
    seen.add(next);
    cursor = next;
  }
  return { kind: 'absent' };
}

function toolOf(value: unknown): Tool | null {
  const parsed = readAs(Descriptor, value);
  if (parsed === null) return null;
  const { name, title, description, inputSchema, outputSchema, annotations, execution } = parsed;
  const synchronousLimitMs = parsed._meta?.[META_SYNCHRONOUS_LIMIT];
  const published = {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    execution,
    synchronousLimitMs,
  };
  return {
    name,
    version: digestOf(Object.fromEntries(Object.entries(published).filter(([, part]) => part !== undefined))),
    inputSchema,
    outputSchema: outputSchema ?? null,
    taskSupport: execution?.taskSupport ?? 'forbidden',
    synchronousLimitMs: synchronousLimitMs ?? null,
  };
}
