/** One property of an elicitation schema as one prompt: string, enum, number, integer, boolean, several of an enum. */
import { checkbox, input, select } from '@inquirer/prompts';
import { schemaProblems } from '../../../machines/approval-gate/reply-schema.ts';
import type { Json } from '../../../machines/digest.ts';
import { choicesOf, type Field, type Schema, schemaOf, titleOf, typedValue, wordOf } from '../../view/fields.ts';
import { oneLine } from '../text.ts';
import type { PromptContext } from './prompter.ts';

export type JsonValue = Json;

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

function labelOf(field: Field): string {
  const { title, description } = titleOf(field);
  return oneLine(`${title}${description === '' ? '' : `: ${description}`}${field.required ? '' : ' (optional)'}`, 300);
}

const optionsOf = (schema: Schema): { name: string; value: JsonValue }[] =>
  choicesOf(schema).map(({ name, value }) => ({ name: oneLine(name) || '(no name)', value }));

/** `true`, or what is wrong: the same check that the approval gate makes of the whole answer. */
function verdict({ name, schema }: Field, value: JsonValue): true | string {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'That is not a number.';
  const alone = { type: 'object', properties: { [name]: schema as Json } };
  const problems = schemaProblems(alone, { action: 'accept', content: { [name]: value } });
  return problems.length === 0 || oneLine(problems.join('; '), 300);
}
