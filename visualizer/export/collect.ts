/** Everything that the ledger holds of one operation, as one value. */
import type { OperationStore } from '../../machines/actor/store.ts';
import type { OperationLedger } from '../../machines/index.ts';
import { MACHINE_VERSION } from '../../machines/tool-operation/context.ts';
import { statePath } from '../../machines/tool-operation/snapshot.ts';
import { shortId } from '../cli/text.ts';
import { readWhole } from '../view/read.ts';
import type { PurgedView } from '../view/schema.ts';
import { withoutSecrets } from './redact.ts';
import { EXPORT_SCHEMA, EXPORT_VERSION, OperationExport } from './schema.ts';

export interface Collecting {
  readonly ledger: OperationLedger;
  readonly store: Pick<OperationStore, 'find'>;
  readonly secrets: boolean;
}

/** `null`: there is no such operation. */
export async function collectOperation(
  { ledger, store, secrets }: Collecting,
  operationId: string,
): Promise<OperationExport | PurgedView | null> {
  // The ledger of who made the file is nobody's business: the commands are without its address.
  const hint = (command: string, id: string, rest: readonly string[] = []) =>
    ['toolop', command, shortId(id), ...rest].join(' ');
  const read = await readWhole({ ledger, store, hint, secrets, output: secrets }, operationId);
  if (read === null || !('view' in read)) return read;
  const { view, history } = read;
  const { record, snapshot } = read.opened;
  const { context } = snapshot;
  const request = secrets ? await ledger.readPayload(operationId, context.requestDigest) : null;
  const whole = {
    schema: EXPORT_SCHEMA,
    version: EXPORT_VERSION,
    exportedAt: view.now,
    redacted: !secrets,
    machine: { id: snapshot.machine.id, version: MACHINE_VERSION },
    // What a server asks is its words, and so is the form of it.
    view: secrets ? view : { ...view, question: null },
    record: { state: statePath(snapshot), revision: record.revision, value: snapshot.value, context },
    history: history.map(({ note, refused, ...entry }) => ({
      ...entry,
      ...(note === undefined ? {} : { note }),
      ...(refused === undefined ? {} : { refused: [...refused] }),
    })),
    arguments: request === null ? null : JSON.parse(request),
  };
  const known = [
    ['task', context.taskId],
    ['session', context.session.sessionId],
    ['principal', context.principal.length > 3 ? context.principal : null],
    ['url', context.endpoint.url],
  ] as const;
  return OperationExport.parse(secrets ? whole : withoutSecrets(whole, known));
}
