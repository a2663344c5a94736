/** What an elicitation schema asks for, field by field, and typed text as the value that it asks for. For any screen. */
import type { Json } from '../../machines/digest.ts';

export type Schema = Readonly<Record<string, unknown>>;

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export interface Choice {
  readonly name: string;
  readonly value: Json;
}

export const schemaOf = (value: unknown): Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};

/** The fields of a form; `null`: it is no form, and is answered with JSON. */
export function fieldsOf(form: unknown): readonly Field[] | null {
  const schema = schemaOf(form);
  const { properties } = schema;
  if (typeof properties !== 'object' || properties === null) return null;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(properties).map(([name, field]) => ({
    ...{ name, schema: schemaOf(field), required: required.has(name) },
  }));
}

/** Its title, and what is said about it. */
export function titleOf({ name, schema }: Field): { readonly title: string; readonly description: string } {
  return {
    title: typeof schema.title === 'string' ? schema.title : name,
    description: typeof schema.description === 'string' ? schema.description : '',
  };
}

/** The values to choose from, with the names a human reads: `oneOf`/`anyOf` with `const`, or `enum` with `enumNames`. */
export function choicesOf(schema: Schema): readonly Choice[] {
  const titled = [schema.oneOf, schema.anyOf].find(Array.isArray) as readonly unknown[] | undefined;
  if (titled) {
    return titled
      .map(schemaOf)
      .flatMap(({ const: value, title }) =>
        value === undefined ? [] : [{ name: wordOf(title ?? value), value: value as Json }],
      );
  }
  if (!Array.isArray(schema.enum)) return [];
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return schema.enum.map((value: Json, index) => ({ name: wordOf(names[index] ?? value), value }));
}

/** Any JSON as a word: an object's own `toString` is the server's. */
export const wordOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

export function typedValue({ schema }: Pick<Field, 'schema'>, text: string): Json {
  if (schema.type === 'number' || schema.type === 'integer') return text.trim() === '' ? text : Number(text);
  if (schema.type === 'string' || schema.type === undefined) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
