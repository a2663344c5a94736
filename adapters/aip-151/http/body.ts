import type { IncomingMessage } from 'node:http';
import { jsonProblem } from '../../../machines/digest.ts';

export type Body = { readonly value: unknown } | { readonly problem: string };

/** The JSON that a response carries, read within a limit of size, or why there is none. Never rejects. */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Body> {
  const type = (response.headers['content-type'] ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    // Nobody reads it: a page may be long.
    response.destroy();
    return { problem: 'not JSON by its content type' };
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        response.destroy();
        return { problem: 'over the size limit' };
      }
      chunks.push(chunk);
    }
  } catch {
    return { problem: 'cut off' };
  }
  if (!response.complete) return { problem: 'cut off' };
  return parse(Buffer.concat(chunks));
}

function parse(bytes: Buffer): Body {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const problem = jsonProblem(value);
    return problem === null ? { value } : { problem: `JSON that cannot be used: ${problem}` };
  } catch {
    return { problem: bytes.length === 0 ? 'empty' : 'not JSON' };
  }
}
