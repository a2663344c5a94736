/** Questions of a server as the ledger keeps them, and the open round of a record. */
import { z } from 'zod';
import { parseReply } from '../approval-gate/reply-schema.ts';
import type { OpenRound } from '../approval-gate/round.ts';
import { canonicalJson, digestOf, type Json, sha256 } from '../digest.ts';
import type { OperationLedger, PayloadWrite } from '../operation-ledger.ts';
import type { InputReplies, InputReply, InputRequest, InputRequests } from '../operation-protocol.ts';
import type { InputRound, ToolOperationContext } from '../tool-operation/context.ts';
import type { Opened } from './store.ts';

/** As many questions are put to a human at once; the rest is a round of its own. */
const MAX_KEYS = 64;

const Stored = z.strictObject({
  message: z.string(),
  schema: z.json(),
  /** The server's keys, where questions have them. */
  keys: z.array(z.string()).optional(),
  /** What the next submission gives back verbatim (2026-07-28). */
  requestState: z.string().nullable().optional(),
});
interface StoredQuestion extends InputRequest {
  readonly keys?: readonly string[];
  readonly requestState?: string | null;
}

/** What a fact says of a question, and what must be stored with it. */
export interface Asked {
  readonly said: { readonly schemaDigest: string; readonly questionDigest: string; readonly keys: readonly string[] };
  /** `null`: stored already. */
  readonly payload: PayloadWrite | null;
}

/** A key of a server can be long; the record knows it by its digest. */
export const keyDigest = (key: string): string => sha256(key).slice(0, 16);

/** A question without identity, as it came on a channel. */
export function askedOnChannel({ message, schema }: InputRequest): Asked {
  return asked({ message, schema });
}

/** Questions that came with the status. */
export function askedWithStatus(requests: InputRequests): Asked {
  const keys = keysOf(requests);
  return asked({ ...together(requests, keys), keys });
}

/** Questions that came instead of a task. */
export function askedBeforeTask(requests: InputRequests, requestState: string | null): Asked {
  const keys = keysOf(requests);
  return asked({ ...together(requests, keys), keys, requestState });
}

/** The round that is on record already: its answer goes out, nobody is asked again. */
export const askedBefore = (input: InputRound): Asked => ({
  said: { schemaDigest: input.schemaDigest, questionDigest: input.requestDigest, keys: input.keys },
  payload: null,
});

function asked(question: StoredQuestion): Asked {
  const text = canonicalJson(question as unknown as Json);
  const questionDigest = sha256(text);
  const keys = (question.keys ?? []).map(keyDigest);
  return {
    said: { schemaDigest: digestOf(question.schema), questionDigest, keys },
    payload: { digest: questionDigest, text },
  };
}

const keysOf = (requests: InputRequests): string[] => Object.keys(requests).sort().slice(0, MAX_KEYS);

/** A round is the set: several questions become one form with a part for each. */
function together(requests: InputRequests, keys: readonly string[]): { message: string; schema: Json } {
  const [first, ...others] = keys.map((key) => [key, requests[key] as InputRequest] as const);
  if (first === undefined) return { message: '', schema: { type: 'object' } };
  if (others.length === 0) return { message: first[1].message, schema: first[1].schema };
  const parts = [first, ...others];
  return {
    message: parts.map(([key, { message }]) => `${key}: ${message}`).join('\n'),
    schema: {
      type: 'object',
      properties: Object.fromEntries(parts.map(([key, { schema }]) => [key, withoutIdentity(schema)])),
      required: [...keys],
      additionalProperties: false,
    },
  };
}

/** A part of a form has no dialect and no address of its own. */
function withoutIdentity(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const { $schema: _, $id: __, ...form } = schema as { readonly [key: string]: Json };
  return form;
}

/** One answer to the whole form, as an answer to each question. */
function apart(keys: readonly string[], reply: InputReply): InputReplies {
  const [only] = keys;
  if (keys.length === 1 && only !== undefined) return { [only]: reply };
  return Object.fromEntries(
    keys.map((key) => [
      key,
      reply.action === 'accept'
        ? { action: 'accept', content: reply.content[key] as { readonly [name: string]: Json } }
        : reply,
    ]),
  );
}

async function storedQuestion(ledger: OperationLedger, context: ToolOperationContext): Promise<StoredQuestion> {
  if (context.input === null) throw new Error(`${context.operationId} has no open question`);
  const text = await ledger.readPayload(context.operationId, context.input.requestDigest);
  if (text === null) throw new Error(`the stored question of ${context.operationId} is gone`);
  return Stored.parse(JSON.parse(text)) as StoredQuestion;
}

/** Reads the question of an open round back from the ledger. */
export async function openRound(ledger: OperationLedger, opened: Opened): Promise<OpenRound> {
  const { context } = opened.snapshot;
  const { message, schema } = await storedQuestion(ledger, context);
  if (context.input === null) throw new Error(`${context.operationId} has no open question`);
  return {
    operationId: context.operationId,
    round: context.inputRound,
    schemaDigest: context.input.schemaDigest,
    deadline: context.input.deadline,
    request: { message, schema },
    possiblyRepeat: context.input.possiblyRepeat,
  };
}

/** The recorded answer of the current round. */
export async function recordedReply(ledger: OperationLedger, context: ToolOperationContext): Promise<InputReply> {
  const digest = context.input?.replyDigest ?? null;
  const text = digest === null ? null : await ledger.readPayload(context.operationId, digest);
  if (text === null) throw new Error(`the stored answer of ${context.operationId} is gone`);
  return parseReply(JSON.parse(text));
}

/** The recorded answer by the server's keys, with the state that the question came with. */
export async function recordedReplies(
  ledger: OperationLedger,
  context: ToolOperationContext,
): Promise<{ readonly replies: InputReplies; readonly requestState: string | null }> {
  const question = await storedQuestion(ledger, context);
  const reply = await recordedReply(ledger, context);
  return { replies: apart(question.keys ?? [], reply), requestState: question.requestState ?? null };
}
