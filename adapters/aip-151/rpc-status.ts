import { z } from 'zod';
import { readAs } from './read-as.ts';

/** google.rpc.Code, as far as something is decided by it. */
export const CODES = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  FAILED_PRECONDITION: 9,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
} as const;
export type CodeName = keyof typeof CODES;

/** The JSON error of AIP-193: its `code` repeats the HTTP status, its `status` names the google.rpc.Code. */
const Envelope = z.looseObject({
  error: z.looseObject({ code: z.number().int(), message: z.string(), status: z.string().max(64) }),
});
/** The same error as grpc-gateway writes it: the bare google.rpc.Status. */
const Bare = z.looseObject({ code: z.number().int().min(1).max(16), message: z.string() });

/** The google.rpc.Code of an error answer, if its body is a well-formed google.rpc.Status with a code that matters here. */
export function codeOf(httpStatus: number, body: unknown): CodeName | null {
  const names = Object.keys(CODES) as CodeName[];
  const envelope = readAs(Envelope, body);
  if (envelope !== null) {
    const { code, status } = envelope.error;
    return code === httpStatus ? (names.find((name) => name === status) ?? null) : null;
  }
  const bare = readAs(Bare, body);
  return bare === null ? null : (names.find((name) => CODES[name] === bare.code) ?? null);
}
