import { z } from 'zod';
import type { AcceptFields } from '../machines/operation-ledger.ts';
import type { PartitionKeys } from './keys.ts';
import { pack, type Stored } from './packing.ts';
import { FIELD_NAMES, fieldsDigest, packBody, payloadArgs } from './record-form.ts';
import { pairs, text, texts } from './replies.ts';
import type { Store } from './store.ts';

/** How long the sections of a record may become here: as prelude.lua has it. */
const LONGEST_TAIL = 1536;
const LONGEST_INLINE = 768;

const oldRecords = z.array(z.union([z.tuple([texts, texts, texts]), z.tuple([])]));
type OldRecord = z.output<typeof oldRecords>[number];

/** One batch of the migration to layout 3: `pack-records.lua`. */
export async function packBatch(
  store: Store,
  partition: PartitionKeys,
  ids: readonly string[],
  from: string,
  to: string,
): Promise<string> {
  const keys = ids.flatMap((id) => [partition.operation(id), partition.history(id), partition.payloads(id)]);
  const found = ids.length === 0 ? [] : await store.read(oldRecords, { script: 'old-records', keys, args: [] });
  return store.write(text, {
    script: 'pack-records',
    keys: [partition.migration, ...keys],
    args: [from, to, ...ids.flatMap((id, i) => packed(id, found[i] ?? []))],
  });
}

function packed(operationId: string, old: OldRecord): Stored[] {
  if (old.length === 0) return ['', '', '', '', '', '', '', ''];
  const [record, history, payloads] = old;
  const held = new Map(pairs(record));
  const field = (name: string): string => held.get(name) ?? '';
  const fields = Object.fromEntries(FIELD_NAMES.map((name) => [name, field(name)])) as unknown as AcceptFields;
  const tail = section(pairs(history).map(([revision, entry]) => [revision, pack(entry, operationId)]));
  const moved: string[] = [];
  let inline = Buffer.alloc(0);
  for (const [digest, payload] of pairs(payloads)) {
    const [tag, , stored] = payloadArgs(digest, payload, operationId);
    if (typeof stored === 'string') continue;
    const longer = Buffer.concat([inline, section([[tag, stored]])]);
    if (longer.length > LONGEST_INLINE) continue;
    inline = longer;
    moved.push(digest);
  }
  return [
    field('rev'),
    packBody({ state: field('state'), fields, snapshot: field('snap') }, operationId),
    fieldsDigest(fields),
    fields.requestDigest,
    fields.terminalState,
    moved.join(' '),
    tail.length <= LONGEST_TAIL ? tail : '',
    inline,
  ];
}

/** Entries as prelude.lua writes them: a name, a size, so many bytes. */
function section(entries: readonly (readonly [name: string, bytes: Uint8Array])[]): Buffer<ArrayBuffer> {
  return Buffer.concat(entries.flatMap(([name, bytes]) => [Buffer.from(`${name} ${bytes.length}\n`), bytes]));
}
