/** Questions of a server as the ledger keeps them, and the open round of a record. */
import { z } from 'zod';
import type { OpenRound } from '../approval-gate/round.ts';
import { canonicalJson, type Json, sha256 } from '../digest.ts';
import type { OperationLedger } from '../operation-ledger.ts';
import type { InputRequest } from '../operation-protocol.ts';
import type { Opened } from './store.ts';

const StoredQuestion = z.strictObject({ message: z.string(), schema: z.json() });

/** The stored form of a question, under its digest. */
export function questionPayload(request: InputRequest): { readonly digest: string; readonly text: string } {
  const text = canonicalJson({ message: request.message, schema: request.schema });
  return { digest: sha256(text), text };
}

/** Reads the question of an open round back from the ledger. */
export async function openRound(ledger: OperationLedger, opened: Opened): Promise<OpenRound> {
  const { context } = opened.snapshot;
  if (context.input === null) throw new Error(`${context.operationId} has no open question`);
  const text = await ledger.readPayload(context.operationId, context.input.requestDigest);
  if (text === null) throw new Error(`the stored question of ${context.operationId} is gone`);
  const request = StoredQuestion.parse(JSON.parse(text)) as { message: string; schema: Json };
  return {
    operationId: context.operationId,
    round: context.inputRound,
    schemaDigest: context.input.schemaDigest,
    deadline: context.input.deadline,
    request,
    possiblyRepeat: context.input.possiblyRepeat,
  };
}
