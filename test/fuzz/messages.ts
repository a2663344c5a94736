/** What a server sends, as inputs: valid messages, generated or recorded, and what edits make of them. */
import fc from 'fast-check';
import type { Json } from '../../machines/digest.ts';
import { BORN } from '../machines/scenario.ts';
import { type ByteEdit, byteEdits, bytesOf, type Edit, edited, edits, json, strings } from './dirt.ts';
import type { Method } from './methods.ts';
import { ANSWERS, ID, TOOL, UNASKED } from './recorded.ts';

export interface Message {
  readonly body: Json;
  readonly edits: readonly Edit[];
  readonly bytes: readonly ByteEdit[];
}

const status = fc.constantFrom('working', 'input_required', 'completed', 'failed', 'cancelled');
const number = fc.oneof(fc.constantFrom(0, 1, 500, 60_000), fc.double({ noNaN: true }), fc.maxSafeInteger());
const when = fc.oneof(
  fc.constant(BORN),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  strings,
);
const task = fc.record(
  {
    taskId: fc.oneof({ weight: 5, arbitrary: fc.constant('task-1') }, { weight: 1, arbitrary: strings }),
    status: fc.oneof({ weight: 9, arbitrary: status }, { weight: 1, arbitrary: strings }),
    statusMessage: strings,
    createdAt: fc.oneof({ weight: 4, arbitrary: fc.constant(BORN) }, { weight: 1, arbitrary: when }),
    lastUpdatedAt: when,
    ttl: number,
    pollInterval: number,
  },
  { requiredKeys: ['taskId', 'status'] },
);
const result = fc.record(
  {
    content: fc.array(
      fc.oneof(
        strings.map((text) => ({ type: 'text', text })),
        fc.record({ type: fc.constantFrom('image', 'audio', 'resource', 'x'), data: strings, mimeType: strings }),
      ),
      { maxLength: 3 },
    ),
    structuredContent: json,
    isError: fc.boolean(),
    _meta: json,
  },
  { requiredKeys: [] },
);
const tool = fc.record(
  { description: json, inputSchema: json, outputSchema: json, execution: json, annotations: json },
  { requiredKeys: [] },
);
const generated = fc.oneof(
  task,
  task.map((one) => ({ task: one })),
  task.map((found) => ({ found })),
  task.map((one) => ({ expiredWithReceipt: one })),
  result,
  fc.array(tool, { maxLength: 2 }).map((more) => ({ tools: [...more, ...more.map((one) => ({ ...TOOL, ...one }))] })),
);
const answers: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ANSWERS) },
  { weight: 2, arbitrary: generated.map((value) => ({ jsonrpc: '2.0', id: ID, result: value }) as unknown as Json) },
);

const messageOf = (body: fc.Arbitrary<Json>): fc.Arbitrary<Message> => fc.record({ body, edits, bytes: byteEdits });
/** What fits the method most of the time: a message that is refused for its kind alone tries nothing else. */
export function answerTo(method: Method, known: readonly Json[] = ANSWERS): fc.Arbitrary<Message> {
  const fitting = known.filter((one) => (FITS[method] as RegExp).test(JSON.stringify(one)));
  return fc.oneof({ weight: 3, arbitrary: messageOf(fc.constantFrom(...fitting)) }, { weight: 1, arbitrary: answer });
}
const FITS: Readonly<Record<Method, RegExp>> = {
  negotiate: /"tools"/,
  submit: /"task"|"content"|input_required/,
  status: /"result":\{("resultType":"complete",)?"taskId"|-32602/,
  result: /"content"|"tools"|"error"/,
  cancel: /"result":\{("resultType":"complete")?("taskId"|\})|-32602/,
  lookup: /"found"|neverCreated|expiredWithReceipt/,
  input: /"content"|"error"|"result":\{"resultType":"complete"\}/,
};

export const answer = messageOf(answers);
export const unasked = messageOf(fc.constantFrom(...UNASKED));

/** The message with the id of the request that it answers, as it goes over the wire. */
export function wireOf({ body, edits: list, bytes }: Message, id: number): Buffer {
  return bytesOf(edited(body, list).replaceAll(String(ID), String(id)), bytes);
}
