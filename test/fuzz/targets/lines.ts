/** The reader of a stdio server's lines: what it reads must not depend on how the bytes come in. */
import fc from 'fast-check';
import { BoundedLines } from '../../../adapters/mcp/rpc/stdio-link.ts';
import { holds } from '../checks.ts';
import { answer, unasked, wireOf } from '../messages.ts';
import { target } from '../target.ts';

const LIMIT = 2_000;

function read(bytes: Buffer, cuts: readonly number[]): readonly string[] {
  const events: string[] = [];
  const lines = new BoundedLines(LIMIT, (id) => void events.push(`oversized ${id}`));
  let from = 0;
  for (let i = 0; from < bytes.length; i++) {
    const size = cuts.length === 0 ? bytes.length : (cuts[i % cuts.length] as number);
    lines.append(bytes.subarray(from, from + size));
    from += size;
  }
  for (let more = true; more; ) {
    try {
      const message = lines.readMessage();
      if (message === null) more = false;
      else events.push(JSON.stringify(message));
    } catch (error) {
      holds(error instanceof Error, 'something else than an error was thrown');
      events.push('unreadable');
    }
  }
  return events;
}

interface Input {
  readonly bytes: Buffer;
  readonly cuts: readonly number[];
}

export const lines = target<Input>({
  name: 'lines',
  about: 'the lines of a stdio server, in any pieces',
  share: 60,
  open: () => ({
    inputs: fc.record({
      bytes: fc
        .array(fc.tuple(fc.oneof(answer, unasked), fc.constantFrom('\n', '\r\n', '\n\n', '')), { maxLength: 4 })
        .map((all) => Buffer.concat(all.flatMap(([message, end]) => [wireOf(message, 1), Buffer.from(end)]))),
      cuts: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 6 }),
    }),
    feed({ bytes, cuts }) {
      const whole = read(bytes, []);
      const pieces = read(bytes, cuts);
      holds(JSON.stringify(whole) === JSON.stringify(pieces), `in pieces it reads ${pieces.join(' | ')}`);
      return whole.some((event) => event.startsWith('{')) ? 'accepted' : 'refused';
    },
  }),
});
