/** One property of an elicitation schema as one prompt: string, enum, number, integer, boolean, several of an enum. */
import { checkbox, input, select } from '@inquirer/prompts';
import { schemaProblems } from '../../../machines/approval-gate/reply-schema.ts';
import type { Json } from '../../../machines/digest.ts';
import { oneLine } from '../text.ts';
import type { PromptContext } from './prompter.ts';

export type JsonValue = Json;
type Schema = Readonly<Record<string, unknown>>;

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export const schemaOf = (value: unknown): Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};

/** `undefined`: the field was left out. */
export async function askField(field: Field, context: PromptContext): Promise<JsonValue | undefined> {
  const { schema } = field;
  const message = labelOf(field);
  const options = schema.type === 'array' ? [] : optionsOf(schema);
  if (options.length > 0) return choose(field, message, options, context);
  if (schema.type === 'boolean') {
    const yesNo = [
      { name: 'Yes', value: true },
      { name: 'No', value: false },
    ];
    return choose(field, message, yesNo, context);
  }
  const several = schema.type === 'array' ? optionsOf(schemaOf(schema.items)) : [];
  if (several.length > 0) {
    const chosen = await checkbox<JsonValue>(
      {
        message,
        choices: several,
        validate: (picked) =>
          verdict(
            field,
            picked.map((choice) => choice.value),
          ),
      },
      context,
    );
    return chosen.length === 0 && !field.required ? undefined : chosen;
  }
  const typed = await input(
    {
      message,
      ...(schema.default === undefined ? {} : { default: wordOf(schema.default) }),
      validate: (text) => (text === '' && !field.required ? true : verdict(field, typedValue(field, text))),
    },
    context,
  );
  return typed === '' && !field.required ? undefined : typedValue(field, typed);
}

async function choose(
  field: Field,
  message: string,
  options: readonly { readonly name: string; readonly value: JsonValue }[],
  context: PromptContext,
): Promise<JsonValue | undefined> {
  const choices: { name: string; value: JsonValue | undefined }[] = [...options];
  if (!field.required) choices.push({ name: '(leave it out)', value: undefined });
  // The prompt compares defaults by identity, so the choice is handed over by its place.
  const place = choices.findIndex(({ value }) => value !== undefined && value === field.schema.default);
  const chosen = await select(
    {
      message,
      choices: choices.map(({ name }, value) => ({ name, value })),
      ...(place < 0 ? {} : { default: place }),
    },
    context,
  );
  return choices[chosen]?.value;
}

function labelOf({ name, schema, required }: Field): string {
  const title = typeof schema.title === 'string' ? schema.title : name;
  const description = typeof schema.description === 'string' ? `: ${schema.description}` : '';
  return oneLine(`${title}${description}${required ? '' : ' (optional)'}`, 300);
}

/** The values to choose from, with the names a human reads: `oneOf`/`anyOf` with `const`, or `enum` with `enumNames`. */
function optionsOf(schema: Schema): { name: string; value: JsonValue }[] {
  const titled = [schema.oneOf, schema.anyOf].find(Array.isArray) as readonly unknown[] | undefined;
  if (titled) {
    return titled
      .map(schemaOf)
      .flatMap(({ const: value, title }) =>
        value === undefined
          ? []
          : [{ name: oneLine(wordOf(title ?? value)) || '(no name)', value: value as JsonValue }],
      );
  }
  if (!Array.isArray(schema.enum)) return [];
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return schema.enum.map((value: JsonValue, index) => ({
    name: oneLine(wordOf(names[index] ?? value)) || '(no name)',
    value,
  }));
}

/** Any JSON as a word: an object's own `toString` is the server's. */
const wordOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

function typedValue({ schema }: Field, text: string): JsonValue {
  if (schema.type === 'number' || schema.type === 'integer') return text.trim() === '' ? text : Number(text);
  if (schema.type === 'string' || schema.type === undefined) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** `true`, or what is wrong: the same check that the approval gate makes of the whole answer. */
function verdict({ name, schema }: Field, value: JsonValue): true | string {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'That is not a number.';
  const alone = { type: 'object', properties: { [name]: schema as Json } };
  const problems = schemaProblems(alone, { action: 'accept', content: { [name]: value } });
  return problems.length === 0 || oneLine(problems.join('; '), 300);
}
