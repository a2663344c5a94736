/** Dirt: what breaks parsers, as JSON texts, as strings, and as edits of valid messages. */
import fc from 'fast-check';
import type { Json } from '../../machines/digest.ts';

const nested = (open: string, middle: string, close: string, depth: number): string =>
  `${open.repeat(depth)}${middle}${close.repeat(depth)}`;

/** Values as JSON text, so that also what no JavaScript value would be written as can be said. */
export const ATOMS: readonly string[] = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e999',
  '-1e999',
  '1e308',
  '5e-324',
  '9007199254740991',
  '9007199254740993',
  '1'.repeat(400),
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\\ufeff"',
  '"\\r\\n\\r\\ndata: x\\n\\n"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"\\u001b[2J\\u202e"',
  `"${'a'.repeat(600)}"`,
  `"${'é'.repeat(5_000)}"`,
  `"${'\\u0001'.repeat(5_000)}"`,
  '[]',
  '{}',
  '[null]',
  `[${'0,'.repeat(2_000)}0]`,
  `{${Array.from({ length: 500 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"__proto__":null}',
  '{"toString":1,"valueOf":1,"toJSON":1}',
  '{"length":{"valueOf":1,"toString":1}}',
  '{"a":1,"a":2}',
  '{"":{"":{}}}',
  nested('[', '', ']', 300),
  nested('{"a":', '1', '}', 300),
  nested('[', '', ']', 12_000),
  nested('{"a":', '1', '}', 12_000),
  '"2026-12-02T08:00:00Z"',
  '"+275760-09-13T00:00:00Z"',
  '"completed"',
  '"cancelled"',
  '"working"',
];

const NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'toJSON',
  'then',
  'length',
  '',
  '\u0000',
  '\ud800',
  '$ref',
  '$async',
  '$schema',
  '_meta',
  'task',
  'taskId',
  'status',
  'result',
  'error',
  'id',
  'method',
  'isError',
  'structuredContent',
];

export interface Edit {
  readonly at: number;
  readonly how: 'replace' | 'drop' | 'add' | 'double' | 'wrap' | 'swap';
  readonly atom: number;
  readonly name: number;
}
export interface ByteEdit {
  readonly at: number;
  readonly how: 'flip' | 'cut' | 'insert' | 'remove' | 'repeat';
  readonly bytes: number;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(200),
  how: fc.constantFrom<Edit['how'][]>('replace', 'replace', 'drop', 'add', 'double', 'wrap', 'swap'),
  atom: fc.nat(ATOMS.length - 1),
  name: fc.nat(NAMES.length - 1),
});
/** Invalid UTF-8, NUL, BOM, line ends of every kind, brackets: what a cut or a merge of streams leaves behind. */
const INSERTS: readonly Buffer[] = [
  [0x00],
  [0xff],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xef, 0xbb, 0xbf],
  [0x0d],
  [0x0a],
  [0x0d, 0x0a, 0x0d, 0x0a],
  [0x22],
  [0x5c],
  [0x7b],
  [0x7d],
  [0x5b],
  [0x2c],
  [0x3a],
  [0xe2, 0x80, 0xa8],
].map((bytes) => Buffer.from(bytes));
const byteEdit: fc.Arbitrary<ByteEdit> = fc.record({
  at: fc.nat(4_000),
  how: fc.constantFrom<ByteEdit['how'][]>('flip', 'cut', 'insert', 'remove', 'repeat'),
  bytes: fc.nat(255),
});

/** A few edits; most inputs have one or two, so that the rest of the message still gets somewhere. */
export const edits = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Edit[]>([]) },
  { weight: 6, arbitrary: fc.array(edit, { minLength: 1, maxLength: 2 }) },
  { weight: 2, arbitrary: fc.array(edit, { minLength: 2, maxLength: 8 }) },
);
export const byteEdits = fc.oneof(
  { weight: 8, arbitrary: fc.constant<ByteEdit[]>([]) },
  { weight: 2, arbitrary: fc.array(byteEdit, { minLength: 1, maxLength: 3 }) },
);

interface Place {
  readonly holder: object;
  readonly key: string;
}
function places(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push({ holder: value, key });
    places(Reflect.get(value, key), found);
  }
  return found;
}
const put = (holder: object, key: string, value: unknown): void =>
  void Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
const raw = (atom: number): string => `\u0001raw:${atom}\u0001`;
const RAW = /"\\u0001raw:(\d+)\\u0001"/g;

/** The message with its edits, as JSON text. */
export function edited(message: Json, list: readonly Edit[]): string {
  if (list.length === 0) return JSON.stringify(message);
  const root = { message: structuredClone(message) as unknown };
  for (const { at, how, atom, name } of list) {
    const all = places(root);
    const place = all[at % all.length];
    if (place === undefined) continue;
    const { holder, key } = place;
    const value: unknown = Reflect.get(holder, key);
    const named = NAMES[name] as string;
    if (how === 'replace') put(holder, key, raw(atom));
    else if (how === 'drop') Reflect.deleteProperty(holder, key);
    else if (how === 'wrap') put(holder, key, atom % 2 === 0 ? [value] : { [`x${name}`]: value });
    else if (how === 'double') put(holder, key, [value, value]);
    else if (how === 'swap') put(holder, key, structuredClone(all[(at * 7 + atom) % all.length]?.holder ?? null));
    else if (typeof value === 'object' && value !== null) put(value, Array.isArray(value) ? '0' : named, raw(atom));
    else if (!Array.isArray(holder)) put(holder, named, raw(atom));
  }
  return (JSON.stringify(root.message) ?? 'null').replace(RAW, (_, atom) => ATOMS[Number(atom)] as string);
}

/** The same, as bytes with their own edits. */
export function bytesOf(text: string, list: readonly ByteEdit[]): Buffer {
  let bytes = Buffer.from(text, 'utf8');
  for (const { at, how, bytes: choice } of list) {
    const place = bytes.length === 0 ? 0 : at % bytes.length;
    if (how === 'flip' && bytes.length > 0) {
      bytes = Buffer.from(bytes);
      bytes[place] = (bytes[place] as number) ^ (1 << (choice % 8));
    } else if (how === 'cut') bytes = bytes.subarray(0, place);
    else if (how === 'remove')
      bytes = Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1 + (choice % 8))]);
    else if (how === 'repeat')
      bytes = Buffer.concat([bytes.subarray(0, place), bytes.subarray(place, place + choice), bytes.subarray(place)]);
    else
      bytes = Buffer.concat([
        bytes.subarray(0, place),
        INSERTS[choice % INSERTS.length] as Buffer,
        bytes.subarray(place),
      ]);
  }
  return bytes;
}

/** Strings of every kind that somebody may type, store or send. */
export const strings: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  {
    weight: 2,
    arbitrary: fc.array(fc.nat(0xffff), { maxLength: 30 }).map((units) => String.fromCharCode(...units)),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...NAMES,
      '@',
      '@/dev/null',
      '@/nowhere',
      '--',
      '-x',
      '--json',
      '{"a":1}',
      '[',
      '1e999',
      '\u001b]0;x\u0007\u009b31m\u202eabc',
      '\ufeff{}',
      '🙂'.repeat(100),
      'a'.repeat(511),
      'a'.repeat(513),
      'b'.repeat(4_001),
      '\n\r\n',
      '../../etc',
    ),
  },
);

/** Plain JSON of a moderate size, with every awkward name and value in it. */
export const json: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...ATOMS.filter((text) => text.length < 20_000))
      .map((text): unknown => JSON.parse(text)),
  },
  { weight: 1, arbitrary: fc.dictionary(strings, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 4 }) },
);

/** A value on one line, with everything that is not plain ASCII escaped, and cut to what a report can hold. */
export function escaped(value: unknown, max = 4_000): string {
  const text = fcText(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return text.length > max ? `${text.slice(0, max)}… (${text.length} characters)` : text;
}
function fcText(value: unknown): string {
  try {
    return fc.stringify(value);
  } catch (error) {
    return `(it cannot be written: ${(error as Error).message})`;
  }
}
