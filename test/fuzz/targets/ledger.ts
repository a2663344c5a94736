/** Commands of callers on a real ledger: what is taken can be opened again, and what is written is read as it was. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Executor } from '../../../machines/index.ts';
import type { Payload } from '../../../machines/operation-protocol.ts';
import { acceptFieldsOf } from '../../../machines/tool-operation/guards.ts';
import { statePath, writeSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import { openLedger } from '../../../persistence/index.ts';
import { evidenceOf, receiptLines, reconcileVerbs, stateView } from '../../../visualizer/cli/views.ts';
import { assertOpensAgain, holds } from '../checks.ts';
import { json, strings } from '../dirt.ts';
import { SITUATIONS } from '../situations.ts';
import { target } from '../target.ts';

interface Input {
  readonly situation: number;
  readonly verb: 'cancel' | 'attach' | 'accept' | 'never-created' | 'give-up' | 'answer';
  readonly by: string;
  readonly text: string;
  readonly node: string;
  readonly payload: unknown;
  readonly status: 'completed' | 'failed' | 'cancelled';
}

const wellFormed = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');

export const ledger = target<Input>({
  name: 'ledger',
  about: 'commands of callers on records of every state, in a ledger file',
  share: 4,
  batch: 200,
  async open() {
    const directory = mkdtempSync(join(tmpdir(), 'toolop-fuzz-'));
    const file = await openLedger(join(directory, 'ledger.db'), { namespace: 'fuzz', maxPayloadBytes: 100_000 });
    const executor = new Executor({ ledger: file, namespace: 'fuzz', protocols: [] });
    let serial = 0;
    return {
      inputs: fc.record({
        situation: fc.nat(100),
        verb: fc.constantFrom('cancel', 'attach', 'accept', 'never-created', 'give-up', 'answer'),
        by: strings,
        text: strings,
        node: strings,
        payload: json,
        status: fc.constantFrom('completed', 'failed', 'cancelled'),
      }),
      async feed({ situation: at, verb, by, text, node, payload, status }) {
        const before = SITUATIONS[at % SITUATIONS.length] as (typeof SITUATIONS)[number];
        const callNodeId = `${node.slice(0, 480)}#${serial++}`;
        const operationId = executor.operationIdOf({ callNodeId });
        const context = { ...before.context, operationId, callNodeId, statusMessage: text.slice(0, 4_000) };
        const snapshot = { ...before, context } as typeof before;
        const created = await file.create(
          {
            operationId,
            commandId: `c${serial}`,
            snapshot: writeSnapshot(snapshot),
            state: statePath(snapshot),
            fields: acceptFieldsOf(context),
            scope: 'endpoint:fuzz',
            dueAt: context.dueAt,
            payloads: [{ digest: 'd', text: wellFormed(text) }],
            history: { at: 1, event: 'created', from: '', to: text, executor: by },
          },
          null,
        );
        // A node that is spelled alike after its bytes were mended is the same node.
        if (created.kind === 'exists') return 'refused';
        const stored = await executor.load(operationId);
        holds(
          stored !== null && writeSnapshot(stored.snapshot) === writeSnapshot(snapshot),
          'another record is stored',
        );
        holds((await file.readPayload(operationId, 'd')) === wellFormed(text), 'another payload is stored');
        await file.readHistory(operationId);

        const answered =
          verb === 'cancel'
            ? await executor.cancel(operationId, by, text)
            : verb === 'answer'
              ? await executor
                  .answer({ operationId, round: 1, schemaDigest: text, reply: payload as never })
                  .catch(gone)
              : await executor.reconcile(operationId, by, verdict(verb, text, status, payload));
        const opened = await executor.load(operationId);
        holds(opened !== null, 'the record is gone');
        assertOpensAgain(opened.snapshot);
        stateView(opened);
        evidenceOf(opened);
        reconcileVerbs(opened);
        if (opened.snapshot.output) receiptLines(opened.snapshot.output);
        return answered?.kind === 'taken' ? 'accepted' : 'refused';
      },
      async close() {
        await executor.stop();
        await file.close();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  },
});

/** The question of these records was never stored: that is said, and nothing changes. */
function gone(error: Error): null {
  holds(/the stored question of .* is gone/.test(error.message), error.message);
  return null;
}

function verdict(
  verb: Exclude<Input['verb'], 'cancel' | 'answer'>,
  text: string,
  status: Input['status'],
  payload: unknown,
): Parameters<Executor['reconcile']>[2] {
  if (verb === 'attach') return { verb, taskId: text };
  if (verb !== 'accept') return { verb, note: text };
  const value = { kind: 'result', value: payload, isError: false } as Payload;
  return { verb, status, payload: status === 'cancelled' ? null : value, note: text };
}
