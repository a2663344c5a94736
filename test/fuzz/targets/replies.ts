/** What the scripts of the ledger answer: a store that says something else is not believed. */
import fc from 'fast-check';
import { SeenHistory } from '../../../persistence/history.ts';
import * as replies from '../../../persistence/replies.ts';
import { Store } from '../../../persistence/store.ts';
import { holds } from '../checks.ts';
import { json, strings } from '../dirt.ts';
import { target } from '../target.ts';

const SCHEMAS = {
  loaded: replies.loaded,
  created: replies.created,
  committed: replies.committed,
  accepted: replies.accepted,
  claimed: replies.claimed,
  renewed: replies.renewed,
  released: replies.released,
  peeked: replies.peeked,
  audited: replies.audited,
  milliseconds: replies.milliseconds,
  flag: replies.flag,
  flags: replies.flags,
  historyEntry: replies.historyEntry,
};
const digits = fc.oneof(fc.nat().map(String), fc.constantFrom('', '-1', '1.5', '9'.repeat(400), '٣', '1 ', '0x1'));
const fields = fc.tuple(digits, strings, strings, strings, digits, strings, digits, digits);
const reply = fc.oneof(
  fields,
  fc.tuple(fc.constantFrom('created', 'exists', 'claimed', '__proto__'), fields),
  fc.tuple(fc.constantFrom('committed', 'conflict', 'missing', 'scope', 'accepted', 'duplicate', 'mismatch'), digits),
  fc.tuple(fc.constantFrom('renewed', 'held', 'released', 'lost', 'waits', 'missing')),
  fc.tuple(digits, fc.array(strings, { maxLength: 5 })),
  fc.tuple(fc.constant('renewed'), digits, digits),
  digits,
  json,
);

interface Input {
  readonly name: keyof typeof SCHEMAS;
  readonly reply: unknown;
}

export const scriptReplies = target<Input>({
  name: 'replies',
  about: "replies of the ledger's scripts, and the fields of a record",
  share: 240,
  open: () => {
    let said: unknown;
    const host = {
      run: async () => said,
      subscribe: () => () => undefined,
      durability: async () => ({ acceptable: true, statement: '', facts: null }),
      close: async () => undefined,
    };
    const store = new Store(host, 1, {
      namespace: 'fuzz',
      definiteWithinMs: 1_000,
      seen: new SeenHistory('fuzz', null),
    });
    return {
      inputs: fc.record({ name: fc.constantFrom(...(Object.keys(SCHEMAS) as Input['name'][])), reply }),
      async feed({ name, reply: given }) {
        said = given;
        let known: unknown;
        try {
          known = await store.read(SCHEMAS[name], { script: 'load', keys: [], args: [] });
        } catch (error) {
          holds(/unknown answer/.test((error as Error).message), (error as Error).message);
          return 'refused';
        }
        if (name === 'loaded' && Array.isArray(known) && known.length > 0) {
          const record = replies.toRecord('p00.x', known as unknown as Parameters<typeof replies.toRecord>[1]);
          holds(/^\d+$/.test(record.revision), 'a revision that is no number');
          holds(record.dueAt === null || Number.isFinite(record.dueAt), 'a due time that is no time');
          holds(record.lease === null || Number.isFinite(record.lease.until), 'a lease without an end');
        }
        if (name === 'milliseconds') holds(Number.isFinite(known), 'a time that is no time');
        return 'accepted';
      },
    };
  },
});
