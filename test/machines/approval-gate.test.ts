/** B7, F3: one question, one human, at most one answer, bound to operation, round, schema digest and deadline. */

import { describe, expect, it } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { judgeReply } from '../../machines/approval-gate/judge.ts';
import { approvalGate, type GateEvent, type ReplyEvent } from '../../machines/approval-gate/machine.ts';
import { parseReply, schemaProblems } from '../../machines/approval-gate/reply-schema.ts';
import type { OpenRound } from '../../machines/approval-gate/round.ts';
import { digestOf, type Json } from '../../machines/digest.ts';

const schema: Json = {
  type: 'object',
  properties: {
    colour: { type: 'string', enum: ['red', 'green'] },
    mail: { type: 'string', format: 'email' },
    pages: { type: 'integer', minimum: 1 },
    urgent: { type: 'boolean' },
  },
  required: ['colour'],
};
const round = (changes: Partial<OpenRound> = {}): OpenRound => ({
  operationId: 'op-1',
  round: 2,
  schemaDigest: digestOf(schema),
  deadline: 1_000,
  request: { message: 'Which colour?', schema },
  possiblyRepeat: false,
  ...changes,
});
const reply = (changes: Partial<ReplyEvent> = {}): ReplyEvent => ({
  type: 'reply',
  operationId: 'op-1',
  round: 2,
  schemaDigest: digestOf(schema),
  at: 1_000,
  reply: { action: 'accept', content: { colour: 'red' } },
  ...changes,
});
const accept = (content: { [key: string]: Json }) => reply({ reply: { action: 'accept', content } });

function answered(...events: GateEvent[]) {
  let [snapshot] = initialTransition(approvalGate, round());
  for (const event of events) if (snapshot.status === 'active') [snapshot] = transition(approvalGate, snapshot, event);
  return { state: snapshot.value, output: snapshot.output };
}

describe('B7: the three answers', () => {
  it('accept, with its content', () => {
    expect(answered(reply())).toEqual({ state: 'ACCEPTED', output: reply().reply });
  });
  it('decline', () => {
    const declined = reply({ reply: { action: 'decline' } });
    expect(answered(declined)).toEqual({ state: 'DECLINED', output: { action: 'decline' } });
    expect(judgeReply(round(), declined)).toEqual({ kind: 'fits' });
  });
  it('cancel', () => {
    expect(answered(reply({ reply: { action: 'cancel' } }))).toEqual({
      state: 'CANCELLED',
      output: { action: 'cancel' },
    });
  });
  it('none: the deadline, or no longer asked', () => {
    expect(answered({ type: 'deadline', at: 1_000 }).state).toBe('OPEN');
    expect(answered({ type: 'deadline', at: 1_001 })).toEqual({ state: 'EXPIRED', output: null });
    expect(answered({ type: 'withdraw' })).toEqual({ state: 'WITHDRAWN', output: null });
  });
  it('F3: twice: the first one counts', () => {
    expect(answered(reply(), accept({ colour: 'green' }))).toEqual({ state: 'ACCEPTED', output: reply().reply });
    expect(answered({ type: 'withdraw' }, reply())).toEqual({ state: 'WITHDRAWN', output: null });
  });
});

describe('B7: what an answer is bound to', () => {
  it.each([
    ['an old round', { round: 1 }, 'matchesInputRound'],
    ['a later round', { round: 3 }, 'matchesInputRound'],
    ['another schema', { schemaDigest: digestOf({}) }, 'matchesSchemaDigest'],
    ['another operation', { operationId: 'op-2' }, 'matchesOperation'],
    ['after the deadline', { at: 1_001 }, 'beforeDeadline'],
  ] as const)('%s: refused, whatever it answers', (_title, changes, guard) => {
    for (const answer of [
      { action: 'accept', content: { colour: 'red' } },
      { action: 'decline' },
      { action: 'cancel' },
    ] as const) {
      const event = reply({ ...changes, reply: answer });
      expect(judgeReply(round(), event)).toEqual({ kind: 'refused', guard, problems: [] });
      expect(answered(event).state).toBe('OPEN');
    }
  });
});

describe('B7: the requested schema', () => {
  it.each([
    ['enum', { colour: 'blue' }, /colour.*allowed values/],
    ['required', { pages: 3 }, /required property 'colour'/],
    ['format', { colour: 'red', mail: 'nobody' }, /mail.*format "email"/],
    ['number', { colour: 'red', pages: '3' }, /pages.*integer/],
    ['minimum', { colour: 'red', pages: 0 }, /pages.*>= 1/],
    ['boolean', { colour: 'red', urgent: 'yes' }, /urgent.*boolean/],
  ] as const)('%s', (_title, content, words) => {
    const judged = judgeReply(round(), accept(content as never));
    expect(judged).toMatchObject({ kind: 'refused', guard: 'replyFitsSchema' });
    expect(judged.kind === 'refused' && judged.problems.join('; ')).toMatch(words);
    expect(answered(accept(content as never)).state).toBe('OPEN');
  });

  it('names everything that is wrong at once', () => {
    expect(schemaProblems(schema, { action: 'accept', content: { pages: 0, urgent: 1 } })).toHaveLength(3);
  });

  it('of an older dialect', () => {
    const old = { $schema: 'http://json-schema.org/draft-07/schema#', ...(schema as object) } as Json;
    expect(schemaProblems(old, { action: 'accept', content: { colour: 'red' } })).toEqual([]);
  });

  it.each([
    ['no object', 'red'],
    ['a list', []],
    ['nothing that compiles', { type: 'colour' }],
    ['a pattern that is none', { properties: { colour: { pattern: '(' } } }],
    ['a pattern that looks around', { properties: { colour: { pattern: '^(?!blue).*$' } } }],
    ['a pattern that refers back', { properties: { colour: { pattern: '^(.)\\1$' } } }],
    ['something to fetch', { properties: { colour: { $ref: 'http://127.0.0.1:9/colour.json' } } }],
    ['something to read', { $ref: 'file:///etc/passwd' }],
    ['another meta schema to fetch', { $schema: 'http://127.0.0.1:9/meta', $ref: 'http://127.0.0.1:9/meta' }],
    ['an answer for later', { $async: true, type: 'object' }],
    ['too much', { enum: Array.from({ length: 20_000 }, (_, index) => `colour-${index}`) }],
  ] as const)('hostile: %s: no content fits, and the human can still decline', (_title, hostile) => {
    const asked = { ...round(), request: { message: 'Which colour?', schema: hostile as unknown as Json } };
    const judged = judgeReply(asked, reply());
    expect(judged).toMatchObject({ kind: 'refused', guard: 'replyFitsSchema' });
    expect(judged.kind === 'refused' && judged.problems).toEqual([expect.stringMatching(/cannot be used/)]);
    expect(judgeReply(asked, reply({ reply: { action: 'decline' } }))).toEqual({ kind: 'fits' });
  });
});

describe('B7: what comes from outside is one of the three answers', () => {
  it.each([
    ['another action', { action: 'maybe' }],
    ['accept without content', { action: 'accept' }],
    ['content with a refusal', { action: 'decline', content: {} }],
    ['content that is no object', { action: 'accept', content: ['red'] }],
    ['more than that', { action: 'cancel', more: 'accept' }],
  ])('%s', (_title, value) => {
    expect(() => parseReply(value)).toThrow();
    expect(schemaProblems(schema, value as never)).toHaveLength(1);
  });
  it('and is taken as it is', () => {
    expect(parseReply({ action: 'accept', content: { colour: 'red' } })).toEqual(reply().reply);
  });
});
