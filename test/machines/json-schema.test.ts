/** What a server writes into a schema cannot be made to run for long, and still means what JSON Schema says. */
import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../adapters/mcp/schema.ts';
import { schemaProblems } from '../../machines/approval-gate/reply-schema.ts';
import { newAjv } from '../../machines/json-schema/ajv.ts';
import { linearPattern } from '../../machines/json-schema/linear-pattern.ts';

/** For the engine of the language: longer than the universe is old. */
const CATASTROPHIC = ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^([a-z]+)*$', '^(.*a){20}$', '\\s+$'];
const LONG = `${'a'.repeat(50_000)}!`;
const inTime = (work: () => void) => {
  const start = performance.now();
  work();
  expect(performance.now() - start).toBeLessThan(3_000);
};

describe('a pattern that backtracks for ever elsewhere', () => {
  it.each(CATASTROPHIC)('%s in an output schema', (pattern) => {
    const compiled = compileSchema({ type: 'object', properties: { text: { type: 'string', pattern } } });
    inTime(() => expect(compiled.kind === 'check' && compiled.check({ text: LONG })).toMatch(/at \/text/));
    inTime(() =>
      expect(compiled.kind === 'check' && compiled.check({ text: `${' '.repeat(50_000)}!` })).not.toBeNull(),
    );
  });

  it.each(CATASTROPHIC)('%s in a requested input schema', (pattern) => {
    const schema = { type: 'object', properties: { text: { type: 'string', pattern } } };
    inTime(() => {
      expect(schemaProblems(schema, { action: 'accept', content: { text: LONG } })).toEqual([
        expect.stringContaining('/text: must match pattern'),
      ]);
    });
  });

  it('as the name of a property', () => {
    const compiled = compileSchema({
      patternProperties: { '^(a+)+$': { type: 'number' } },
      additionalProperties: false,
    });
    inTime(() => expect(compiled.kind === 'check' && compiled.check({ [LONG]: 1 })).toMatch(/additional/));
  });

  it('a long pattern is read in linear time, too', () => {
    inTime(() => expect(() => linearPattern(`[${'(?<'.repeat(30_000)}]`)).not.toThrow());
  });
});

describe('what has no linear form is said, and nothing passes by it', () => {
  it.each([
    ['(?=a)b', /looks around/],
    ['(?!a)b', /looks around/],
    ['(?<=a)b', /looks around/],
    ['(?<!a)b', /looks around/],
    ['(a)\\1', /back-reference/],
    ['(?<x>a)\\k<x>', /back-reference/],
    ['^.{1,2000}$', /no form that is matched in linear time/],
    ['(', /Invalid regular expression/],
  ])('%s', (pattern, words) => {
    const compiled = compileSchema({ type: 'string', pattern });
    expect(compiled).toMatchObject({ kind: 'unusable', problem: expect.stringMatching(words) });
    const problems = schemaProblems({ properties: { a: { pattern } } }, { action: 'accept', content: { a: 'b' } });
    expect(problems).toEqual([expect.stringMatching(words)]);
  });
});

describe('a pattern means what it means in ECMAScript', () => {
  const TEXTS = [
    ...['', 'a', 'aaaa', 'a\n', '\n', '\r', '\u2028', ' ', '\u00a0', '\ufeff', '\v', 'b', 'A', 'foo', 'a foo b'],
    ...['\u{1f600}', '2026-12', '\x01', 'λ', 'Ä', 'é', ']x', '\\', 'x@y', 'a.b@', '/a', 'aab', '\0', '\b', '['],
    ...['x', '0', '_', '[]', '.', '\u{10ffff}', '-', '^', '(', '>', '?', '=', '(?<a', '\\a'],
  ];
  it.each([
    ...['^(a+)+$', '^a$', '.', '^.$', '', '(?:)', '^$', 'x|y', '\\.', '[.]', '^\\/a', 'a{2,3}?b', '[^\\n]'],
    ...['\\s', '^[\\s]$', '^[^\\S]$', '^\\S$', '[\\S]', '[^\\s]', '[a\\sb-]', '^\\w+$', '[\\w\\-.]+@', '\\bfoo\\b'],
    ...['[]', '[^]', '\\\\[]', '\\\\[^]', 'a[]', 'x[^]', '^[a[]$', '[a[^]', '[(?<]x[>]', '^[(?<a>]$', '^[(?=]$'],
    ...['[\\]]x', '^[\\b]$', '\\0', '[\\0]', '\\cA', '\\u0041', '^\\uD83D\\uDE00$', '^\\u{1F600}$', '[\\u{1F600}]'],
    ...['^(?<y>\\d{4})-(?<m>\\d\\d)$', '\\p{L}', '\\P{L}', '\\p{Lu}', '\\p{Script=Greek}', '[\\p{L}\\d]', '^[^^]$'],
  ])('%s', (pattern) => {
    const native = new RegExp(pattern, 'u');
    const linear = linearPattern(pattern);
    expect(TEXTS.filter((text) => linear.test(text))).toEqual(TEXTS.filter((text) => native.test(text)));
  });

  it('two patterns of one schema are not taken for one', () => {
    const compiled = compileSchema({ properties: { a: { pattern: '^x$' }, b: { pattern: '^y$' } } });
    if (compiled.kind !== 'check') throw new Error(compiled.problem);
    expect(compiled.check({ a: 'x', b: 'y' })).toBeNull();
    expect(compiled.check({ a: 'x', b: 'x' })).toMatch(/at \/b/);
  });
});

describe('formats', () => {
  const STARTS = ['', 'a@', 'http://', 'http://a.', 'a://', '/', 'P', 'PT', '{', '#', '0/', '00:00:00.', '['];
  const SEEDS = ['a', 'a.', 'a-', '0', '0:', '::', '%41', '/', '{a,', '~0/', '1D', 'AAAA', ' ', 'a://', '?', '@a'];
  it('none takes longer than linear time', { timeout: 120_000 }, () => {
    const ajv = newAjv('2020-12');
    for (const format of Object.keys(ajv.formats)) {
      const check = ajv.compile({ type: 'string', format });
      const start = performance.now();
      for (const begin of STARTS)
        for (const seed of SEEDS) check(`${begin}${seed.repeat(Math.ceil(150_000 / seed.length))}!`);
      expect(performance.now() - start, format).toBeLessThan(10_000);
    }
  });

  it('url', () => {
    const check = newAjv('2020-12').compile({ format: 'url' });
    const fits = (text: string) => check(text);
    expect(['https://example.org/a?b#c', 'ftp://example.org'].map(fits)).toEqual([true, true]);
    expect(['mailto:a@b', 'https://', 'https://a b', 'a', ''].map(fits)).toEqual([false, false, false, false, false]);
  });
});
