import type { Json } from '../../digest.ts';
import { sha256 } from '../../digest.ts';
import type { Payload } from '../../operation-protocol.ts';
import { candidateFor } from '../../tool-operation/guards.ts';
import { stampOf } from '../environment.ts';
import { told } from '../facts.ts';
import type { RunEffect } from './index.ts';
import { noteSession, patiently, permit, sessionOf, taskRef } from './requests.ts';

/**
 * Fetches and verifies the outcome's content; what was stored with an earlier step, also on a question channel before
 * the outcome was known, is verified from the ledger.
 */
export const fetchResult: RunEffect = async (drive, issued, signal) => {
  const { env, context } = drive;
  const held = context.result ?? (context.terminal && candidateFor(context, context.terminal.status));
  if (held !== null) {
    const text = await env.ledger.readPayload(drive.operationId, held.digest);
    if (text !== null && sha256(text) === held.digest) {
      return [
        {
          event: { ...stampOf(env), type: 'result.fetched', claims: issued.claims, result: held },
          payloads: [],
        },
      ];
    }
  }
  if (context.taskId === null || context.terminal === null) {
    return [
      {
        event: {
          ...stampOf(env),
          type: 'result.failed',
          claims: issued.claims,
          reason: 'the stored result cannot be read and there is no task to ask',
        },
        payloads: [],
      },
    ];
  }
  const session = await sessionOf(drive);
  await permit(drive, signal);
  if (signal.aborted) return [];
  const task = taskRef(context);
  const { status } = context.terminal;
  const outcome = await patiently(drive, signal, (patience) => session.result(task, status, patience));
  const sessionChanged = env.connections.sessionChanged(context);
  noteSession(drive, outcome);
  return [told.result(outcome, issued, stampOf(env), sessionChanged)];
};

/** A stored payload, opened again. */
export function openPayload(text: string, kind: 'result' | 'error'): Payload['value'] {
  const value = JSON.parse(text) as Json;
  return kind === 'error' ? (value as unknown as Extract<Payload, { kind: 'error' }>['value']) : value;
}
