/**
 * Reads what the kit is told from outside (options, commands, rules): within limits, and refused with one text that says what is
 * wrong, where, and what is allowed there.
 */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';

/** A command may bring the answer that a server is to give. */
const MAX_BYTES = 16_000_000;
/** Of a refusal: how much of what was told is repeated, and how many things are named. */
const [MAX_SHOWN, MAX_NAMED] = [100, 5];

/** Throws an error whose message is the refusal. */
export function understood<S extends z.ZodType>(schema: S, told: unknown): z.output<S> {
  const read = schema.safeParse(told, { error: refusal });
  if (read.success) return read.data;
  const lines = read.error.issues.slice(0, MAX_NAMED).map((issue) => {
    const { path, message } = issue;
    // A value that chooses among others names its own place.
    const chooses = issue.code === 'invalid_union' && issue.discriminator !== undefined;
    const place = chooses ? path.slice(0, -1) : path;
    return place.length === 0 ? message : `${z.core.toDotPath(place)}: ${message}`;
  });
  throw new Error(lines.join('; '));
}

/** Throws where it is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`this is no JSON: ${(error as Error).message}`);
  }
}

/** The JSON that a request brings. A body that is too long is read to its end all the same: else nobody hears the refusal. */
export async function toldBy(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BYTES) throw new Error(`${bytes} bytes are too many; allowed: ${MAX_BYTES}`);
  return jsonOf(Buffer.concat(chunks).toString('utf8'));
}

/** What zod does not say itself: which names and choices there are. */
const refusal: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'unrecognized_keys' && issue.inst instanceof z.ZodObject)
    return unknown(issue.keys.slice(0, MAX_NAMED).map(shown).join(', '), Object.keys(issue.inst.shape));
  if (issue.code !== 'invalid_union' || issue.discriminator === undefined) return undefined;
  const chosen: unknown = Reflect.get(Object(issue.input), issue.discriminator);
  const choices = [issue.options].flat().map(String);
  if (chosen === undefined) return `"${issue.discriminator}" is missing; allowed: ${choices.join(', ')}`;
  return unknown(`${issue.discriminator} ${shown(chosen)}`, choices);
};

const unknown = (what: string, allowed: readonly string[]): string =>
  `${what} is not known; allowed: ${allowed.length === 0 ? 'nothing' : allowed.join(', ')}`;

const shown = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
};
