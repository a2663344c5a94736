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
 * `_meta` of `tools/call`: `true` where the call is made beside an ordinary one, to be compared with it, and nothing follows from
 * it (R1). Absent otherwise.
 */
export const META_SHADOW = 'dev.toolop/shadow';

/**
 * `_meta` of a tool in `tools/list`: within how many ms a plain `tools/call` of it is answered, an integer from 1 to
 * 86 400 000. It is the published synchronous limit of B1: so long the adapter `sync` waits, and without it such a call is
 * refused. An answer that comes later is still evidence.
 */
export const META_SYNCHRONOUS_LIMIT = 'dev.toolop/synchronous-limit-ms';

/**
 * `capabilities.experimental` of a server that remembers submission keys:
 * `{ lookup: boolean, deduplicates: boolean, retentionMs: number }`.
 */
export const CAPABILITY_SUBMISSION_KEY = 'dev.toolop/submission-key';

/**
 * The look-up. Params `{ key, throughAttempt, requestDigest, principal }`; answers exactly one of
 * `{ found: Task }`, `{ neverCreated: true, closedThroughAttempt: number }` and
 * `{ expiredWithReceipt: { taskId, createdAt, status, result? } }`. A call that ran without a task is `found` while it
 * runs (under an id of the server's own) and has a receipt afterwards; `result`, what the call returned, makes the receipt
 * enough to be accepted by.
 * "Never created" also closes the key: no attempt up to `closedThroughAttempt` may create anything any more.
 */
export const METHOD_LOOKUP = 'dev.toolop/lookup';

/** The specification's own: binds a message to a task. */
export const META_RELATED_TASK = 'io.modelcontextprotocol/related-task';
