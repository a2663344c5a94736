/** What stands packed in a store (B3): it is read for ever, and what cannot be read is refused in words. */
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../machines/digest.ts';
import { LedgerIncompatible } from '../../machines/operation-ledger.ts';
import { DICTIONARIES } from '../../persistence/dictionaries.ts';
import { pack, unpack } from '../../persistence/packing.ts';
import { openBody, packBody, withBody } from '../../persistence/record-form.ts';
import { fields } from './steps.ts';

const ID = `p00.${'a'.repeat(64)}`;
/** How dictionaries were when they were released: a new one is added behind them. */
const RELEASED = ['b9bf8dbbbf0e44b5afbaa11bc393ecbaf1455ddbeb9c81a9f2827b4c0d0d48a9'];

describe('packing', () => {
  it('a dictionary never changes', () => {
    expect(DICTIONARIES.map((text) => sha256(text))).toEqual(RELEASED);
  });

  it('gives back every text', () => {
    const texts = ['', '{}', '"ünï 😀 \u0000"', 'x'.repeat(2 * 1024 ** 2), DICTIONARIES[0] ?? ''];
    for (const text of texts) expect(unpack(pack(text, ID), ID)).toBe(text);
    expect(unpack('{"plain":1}', ID)).toBe('{"plain":1}');
    const body = { state: 'WORKING.polling', fields, snapshot: '{"a":"\n"}' };
    expect(openBody(packBody(body, ID), ID)).toEqual(body);
  });

  it.each([
    [
      'of a newer version',
      Buffer.from([0xff, DICTIONARIES.length + 1, 1]),
      /dictionary 2.*knows up to 1.*untouched.*Upgrade/,
    ],
    ['that is damaged', pack('{"some":"text"}', ID).subarray(0, 6), /cannot be unpacked.*untouched/],
    ['that is empty', Buffer.from([0xff]), /dictionary -1.*untouched/],
    [
      'that becomes larger than anything that is packed',
      Buffer.concat([Buffer.from([0xff, 1]), deflateRawSync(Buffer.alloc(64 * 1024 ** 2))]),
      /cannot be unpacked.*larger than.*untouched/,
    ],
  ])('refuses one %s, and only when somebody looks at it', (_, stored, words) => {
    expect(() => unpack(stored, ID)).toThrow(LedgerIncompatible);
    expect(() => unpack(stored, ID)).toThrow(words);
    const record = withBody(
      { operationId: ID, revision: '1', scope: 'endpoint:e', dueAt: null, lease: null },
      stored,
      '',
    );
    expect(record.revision).toBe('1');
    expect(() => record.snapshot).toThrow(words);
  });
});
