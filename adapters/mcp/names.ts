/**
 * The private names of this project on the wire of MCP, the same in every revision (design section 6). All of them are
 * optional for a server: one that knows none of them simply cannot be asked about a lost submission.
 */

/** `_meta` of `tools/call`: the submission key. The same call from the same call node always has the same key. */
export const META_SUBMISSION_KEY = 'dev.toolop/submission-key';
/** `_meta` of `tools/call`: the number of this attempt under its key, from 1. */
export const META_ATTEMPT = 'dev.toolop/attempt';
/** `_meta` of `tools/call`: SHA-256 of the canonical JSON of the request. */
export const META_REQUEST_DIGEST = 'dev.toolop/request-digest';
/** `_meta` of `tools/call`: for whom the call is made. */
export const META_PRINCIPAL = 'dev.toolop/principal';

/**
 * `capabilities.experimental` of a server that remembers submission keys:
 * `{ lookup: boolean, deduplicates: boolean, retentionMs: number }`.
 */
export const CAPABILITY_SUBMISSION_KEY = 'dev.toolop/submission-key';

/**
 * The look-up. Params `{ key, throughAttempt, requestDigest, principal }`; answers exactly one of
 * `{ found: Task }`, `{ neverCreated: true, closedThroughAttempt: number }` and
 * `{ expiredWithReceipt: { taskId, createdAt, status } }`.
 * "Never created" also closes the key: no attempt up to `closedThroughAttempt` may create anything any more.
 */
export const METHOD_LOOKUP = 'dev.toolop/lookup';

/** The specification's own: binds a message to a task. */
export const META_RELATED_TASK = 'io.modelcontextprotocol/related-task';
