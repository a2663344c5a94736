import { z } from 'zod';
import { META_ATTEMPT, META_PRINCIPAL, META_REQUEST_DIGEST, META_SUBMISSION_KEY } from '../names.ts';
import { readAs } from '../read-as.ts';

const Key = z.string().min(1).max(256);
const Attempt = z.number().int().min(1).max(1_000_000_000);
const Digest = z.string().min(1).max(256);
const Principal = z.string().max(1_024);

/** What a call says of its submission (B4): under which key, the number of the attempt, and whose call it is. */
export interface SubmissionMark {
  readonly key: string;
  readonly attempt: number;
  readonly digest: string;
  readonly principal: string;
}

const Meta = z.object({
  [META_SUBMISSION_KEY]: Key,
  [META_ATTEMPT]: Attempt,
  [META_REQUEST_DIGEST]: Digest,
  [META_PRINCIPAL]: Principal,
});

/** Reads `_meta` of a `tools/call`. `none`: an ordinary call. `malformed`: a key without what makes it safe. */
export function submissionMark(meta: unknown): SubmissionMark | 'none' | 'malformed' {
  if (typeof meta !== 'object' || meta === null || !(META_SUBMISSION_KEY in meta)) return 'none';
  const read = readAs(Meta, meta);
  if (read === null) return 'malformed';
  return {
    key: read[META_SUBMISSION_KEY],
    attempt: read[META_ATTEMPT],
    digest: read[META_REQUEST_DIGEST],
    principal: read[META_PRINCIPAL],
  };
}

const Lookup = z.object({ key: Key, throughAttempt: Attempt, requestDigest: Digest, principal: Principal });

/** Reads the parameters of a look-up; the attempt is the last one that is asked about. */
export function lookupMark(params: unknown): SubmissionMark | null {
  const read = readAs(Lookup, params);
  if (read === null) return null;
  return { key: read.key, attempt: read.throughAttempt, digest: read.requestDigest, principal: read.principal };
}
