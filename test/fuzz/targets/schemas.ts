/** Schemas and patterns that a server wrote, and values checked by them. */
import fc from 'fast-check';
import { compileSchema } from '../../../adapters/mcp/schema.ts';
import { schemaProblems } from '../../../machines/approval-gate/reply-schema.ts';
import type { Json } from '../../../machines/digest.ts';
import { linearPattern } from '../../../machines/json-schema/linear-pattern.ts';
import { holds } from '../checks.ts';
import { edited, edits, json, strings } from '../dirt.ts';
import { TOOL } from '../recorded.ts';
import { target } from '../target.ts';

interface Input {
  readonly schema: Json;
  readonly value: unknown;
}

const pattern = fc.oneof(
  fc.constantFrom(
    '^(a+)+$',
    '(a|a)*b',
    '[\\s\\S]',
    '\\p{Lu}+',
    '(?<n>x)\\k<n>',
    '(?=a)',
    'a{1,1000}',
    '\\ud83d\\ude00',
    '[^]',
  ),
  strings,
  fc
    .array(fc.constantFrom('a', 'b', '(', ')', '[', ']', '*', '+', '?', '|', '\\', '^', '$', '{2}', '.', '-', 'é'), {
      maxLength: 12,
    })
    .map((parts) => parts.join('')),
);
const keyword = fc.record(
  {
    type: fc.constantFrom<unknown>(
      'object',
      'array',
      'string',
      'number',
      'integer',
      'boolean',
      'null',
      ['string', 'null'],
      'x',
    ),
    pattern,
    format: fc.constantFrom('date-time', 'email', 'uri', 'regex', 'json-pointer', 'duration', 'uuid', 'nonsense'),
    enum: fc.array(json, { maxLength: 3 }),
    const: json,
    minimum: fc.double(),
    multipleOf: fc.oneof(fc.double({ noNaN: true }), fc.constant(0)),
    maxLength: fc.integer(),
    uniqueItems: fc.boolean(),
    required: fc.array(strings, { maxLength: 3 }),
    $ref: fc.constantFrom('#', '#/properties/a', '#/$defs/x', 'https://example.org/x', '#nowhere', '__proto__'),
    $dynamicRef: fc.constant('#'),
    $id: strings,
    $schema: fc.constantFrom(
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft/2020-12/schema',
      'x',
    ),
    unevaluatedProperties: fc.boolean(),
    additionalProperties: fc.boolean(),
  },
  { requiredKeys: [] },
);
const { schema: composed } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'schema' },
    keyword,
    fc
      .dictionary(fc.constantFrom('a', '__proto__', 'constructor', ''), tie('schema'), { maxKeys: 2 })
      .map((properties) => ({ type: 'object', properties })),
    tie('schema').map((items) => ({ type: 'array', items })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
    tie('schema').map((x) => ({ $ref: '#/$defs/x', $defs: { x } })),
    fc.tuple(pattern, tie('schema')).map(([key, inner]) => ({ patternProperties: { [key]: inner } })),
  ),
}));

/** Every definition asks twice for the next: as many questions as two to their number. */
const doubling = (depth: number): Json => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries([
    ...Array.from({ length: depth }, (_, i) => [
      `d${i}`,
      { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
    [`d${depth}`, { type: 'object' }],
  ]),
});
/** The same by going down: one level of the value asks twice for the next. */
const descending: Json = { properties: { a: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } };
const deep = JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) as Json;
/** Comparing each with each. */
const many = Array.from({ length: 60_000 }, (_, i) => ({ i }));
const costly: readonly Input[] = [
  { schema: doubling(60), value: {} },
  { schema: descending, value: deep },
  { schema: { properties: { a: { uniqueItems: true } } }, value: { a: many } },
  { schema: { properties: { a: { uniqueItems: true, items: { type: ['object', 'string'] } } } }, value: { a: many } },
  { schema: { properties: { a: { items: { enum: many.slice(0, 3_000) } } } }, value: { a: many } },
  {
    schema: { properties: { a: { items: { pattern: '(a|b|ab)*c{0,500}$' } } } },
    value: { a: many.map(() => 'ab'.repeat(50)) },
  },
  { schema: { $ref: '#' }, value: {} },
  { schema: { items: { $ref: '#' } }, value: JSON.parse(`${'['.repeat(12_000)}${']'.repeat(12_000)}`) },
  { schema: JSON.parse(`${'{"not":'.repeat(12_000)}{}${'}'.repeat(12_000)}`) as Json, value: {} },
];

export const schemas = target<Input>({
  name: 'schemas',
  about: 'schemas and patterns of a server, and values checked by them',
  share: 4,
  batch: 200,
  open: () => ({
    inputs: fc.oneof(
      { weight: 90, arbitrary: fc.record({ schema: composed as fc.Arbitrary<Json>, value: json }) },
      {
        weight: 12,
        arbitrary: fc.record({
          schema: edits.map((list) => JSON.parse(edited(TOOL.outputSchema as Json, list)) as Json),
          value: edits.map((list) => JSON.parse(edited({ pages: [{ at: '2026-12-02T08:00:00Z' }, {}] }, list)) as Json),
        }),
      },
      { weight: 40, arbitrary: fc.record({ schema: pattern.map((one): Json => ({ pattern: one })), value: strings }) },
      { weight: 1, arbitrary: fc.constantFrom(...costly) },
    ),
    feed({ schema, value }) {
      const problems = schemaProblems(schema, { action: 'accept', content: value as { [key: string]: Json } });
      holds(
        problems.every((problem) => typeof problem === 'string'),
        'a problem without words',
      );
      if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'refused';
      const { pattern: only } = schema as { pattern?: unknown };
      if (typeof only === 'string' && Object.keys(schema).length === 1 && typeof value === 'string')
        matches(only, value);
      const compiled = compileSchema(schema);
      if (compiled.kind === 'unusable') return 'refused';
      const misfit = compiled.check(value);
      holds(misfit === null || typeof misfit === 'string', 'a check that answers with something else');
      return misfit === null ? 'accepted' : 'refused';
    },
  }),
});

/** Where the pattern has a linear form, that form says what the language's own engine says. */
function matches(pattern: string, text: string): void {
  let linear: { test(text: string): boolean };
  try {
    linear = linearPattern(pattern);
  } catch {
    return;
  }
  const short = text.slice(0, 12);
  const own = new RegExp(pattern, 'u').test(short);
  holds(linear.test(short) === own, `the pattern says ${!own}, the engine of the language ${own}`);
}
