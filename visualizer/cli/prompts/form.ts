/** A server's question as a form on the terminal. What it says is shown as text, never obeyed. */
import { input, select } from '@inquirer/prompts';
import type { InputReply, OpenRound } from '../../../machines/index.ts';
import { fieldsOf } from '../../view/fields.ts';
import { manyLines, oneLine } from '../text.ts';
import { askField, type JsonValue } from './fields.ts';
import type { PromptContext } from './prompter.ts';

/** Asks for one answer: accept with content, decline, or cancel. */
export async function askForm(round: OpenRound, context: PromptContext): Promise<InputReply> {
  context.output.write(`\n${manyLines(round.request.message)}\n`);
  if (round.possiblyRepeat)
    context.output.write('(The connection broke: this may be a repeat of what was answered.)\n');
  const action = await select(
    {
      message: 'The server asks for input:',
      choices: [
        { name: 'Answer', value: 'accept' as const },
        { name: 'Decline to answer', value: 'decline' as const },
        { name: 'Dismiss the question', value: 'cancel' as const },
      ],
    },
    context,
  );
  return action === 'accept' ? { action, content: await askContent(round, context) } : { action };
}

async function askContent(round: OpenRound, context: PromptContext): Promise<Record<string, JsonValue>> {
  const fields = fieldsOf(round.request.schema);
  if (fields === null) return askJson(context);
  const content: Record<string, JsonValue> = {};
  for (const field of fields) {
    const value = await askField(field, context);
    if (value !== undefined) content[field.name] = value;
  }
  return content;
}

/** A schema that is no form: the answer is typed as JSON. */
async function askJson(context: PromptContext): Promise<Record<string, JsonValue>> {
  const parse = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  };
  const text = await input(
    {
      message: oneLine('The answer, as a JSON object:'),
      default: '{}',
      validate: (typed) => {
        const value = parse(typed);
        return (typeof value === 'object' && value !== null && !Array.isArray(value)) || 'That is not a JSON object.';
      },
    },
    context,
  );
  return parse(text) as Record<string, JsonValue>;
}
