/** Answers of humans, and questions of servers as a human gets them: judged by the approval gate, shown as a form. */
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { judgeReply } from '../../../machines/approval-gate/judge.ts';
import { parseReply } from '../../../machines/approval-gate/reply-schema.ts';
import type { OpenRound } from '../../../machines/approval-gate/round.ts';
import { canonicalJson, type Json, jsonProblem } from '../../../machines/digest.ts';
import type { InputReply } from '../../../machines/operation-protocol.ts';
import { askField } from '../../../visualizer/cli/prompts/fields.ts';
import { schemaOf } from '../../../visualizer/view/fields.ts';
import { holds } from '../checks.ts';
import { edited, edits, json, strings } from '../dirt.ts';
import { UNASKED } from '../recorded.ts';
import { target, type Verdict } from '../target.ts';

const SCHEMA = (UNASKED[1] as { params: { requestedSchema: Json } }).params.requestedSchema;
const reply = fc.oneof(
  fc.record({
    action: fc.constantFrom('accept', 'decline', 'cancel', '__proto__'),
    content: fc.oneof(
      json,
      edits.map((list): unknown => JSON.parse(edited({ which: 'a', when: '2026-12-02T08:00:00Z', how: [1] }, list))),
    ),
  }),
  fc.constantFrom({ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { which: 'b' } }),
  json,
);
const question = fc.oneof(
  edits.map((list) => JSON.parse(edited(SCHEMA, list)) as Json),
  json as fc.Arbitrary<Json>,
);

interface Answer {
  readonly reply: unknown;
  readonly schema: Json;
  readonly round: number;
}
const ROUND = { operationId: 'op-1', round: 1, schemaDigest: 'e', deadline: 1_000, possiblyRepeat: false };

export const answers = target<Answer>({
  name: 'answers',
  about: 'answers to a question, judged before they leave',
  share: 4,
  batch: 500,
  open: () => ({
    inputs: fc.record({ reply, schema: question, round: fc.nat(2) }),
    feed({ reply: given, schema, round }) {
      const open: OpenRound = { ...ROUND, request: { message: 'Which?', schema } };
      const event = { type: 'reply' as const, operationId: 'op-1', round, schemaDigest: 'e', at: 1 };
      const judgement = judgeReply(open, { ...event, reply: given as InputReply });
      if (judgement.kind === 'refused') return 'refused';
      holds(round === 1, 'an answer to another round was taken');
      // What is stored is what leaves: read back by the one who writes it to the wire.
      const stored = canonicalJson(given);
      holds(canonicalJson(parseReply(JSON.parse(stored))) === stored, 'another answer would leave than was given');
      return 'accepted';
    },
  }),
});

/** What comes in from a server at all. */
const readable = <T>(arbitrary: fc.Arbitrary<T>) => arbitrary.filter((value) => jsonProblem(value) === null);

interface Field {
  readonly name: string;
  readonly schema: Json;
  readonly required: boolean;
}
export const forms = target<Field>({
  name: 'forms',
  about: 'a question of a server, as prompts on a terminal',
  share: 10,
  batch: 500,
  open: () => {
    const gone = AbortSignal.abort();
    return {
      inputs: fc.record({
        name: strings,
        schema: readable(
          fc.oneof(
            json as fc.Arbitrary<Json>,
            edits.map(
              (list) => JSON.parse(edited({ type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] }, list)) as Json,
            ),
            edits.map(
              (list) => JSON.parse(edited({ oneOf: [{ const: 'a', title: 'A' }, { const: 1 }] }, list)) as Json,
            ),
            edits.map(
              (list) => JSON.parse(edited({ type: 'array', items: { enum: ['a', 1] }, default: ['a'] }, list)) as Json,
            ),
            edits.map((list) => JSON.parse(edited({ type: 'integer', title: 'N', default: 3 }, list)) as Json),
          ),
        ),
        required: fc.boolean(),
      }),
      async feed({ name, schema, required }): Promise<Verdict> {
        // The prompt is withdrawn at once: everything that comes before it is what is tried here.
        const context = { input: new PassThrough(), output: new PassThrough(), signal: gone };
        const outcome = await askField({ name, schema: schemaOf(schema), required }, context).catch(
          (error: Error) => error,
        );
        holds(
          outcome instanceof Error && outcome.name === 'AbortPromptError',
          String((outcome as Error)?.stack ?? outcome),
        );
        return 'refused';
      },
    };
  },
});
