/** Texts of others on a terminal, and the small readers of the adapter: no control gets through, nothing throws. */
import fc from 'fast-check';
import { retryAfterMs } from '../../../adapters/mcp/rpc/http-fetch.ts';
import { taskViewOf } from '../../../adapters/mcp-2025-11-25/task-view.ts';
import { LastWords } from '../../../visualizer/cli/last-words.ts';
import { redacted } from '../../../visualizer/cli/redact.ts';
import { jsonLine, manyLines, oneLine, shellWord, shortId } from '../../../visualizer/cli/text.ts';
import { holds } from '../checks.ts';
import { json, strings } from '../dirt.ts';
import { target } from '../target.ts';

// Line feeds and tabs are judged apart.
const CONTROL = /(?![\n\t])[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u;

interface Input {
  readonly text: string;
  readonly value: unknown;
  readonly max: number;
}

export const words = target<Input>({
  name: 'words',
  about: 'texts of others on a terminal; Retry-After; tasks',
  share: 161,
  open: () => ({
    inputs: fc.record({
      text: fc.oneof(
        strings,
        fc.array(strings, { maxLength: 4 }).map((all) => all.join('')),
      ),
      value: json,
      max: fc.integer({ min: 1, max: 300 }),
    }),
    feed({ text, value, max }) {
      const line = oneLine(text, max);
      holds(!CONTROL.test(line) && !/[\n\t]/.test(line) && line.length <= max, 'a control on one line');
      holds(!CONTROL.test(manyLines(text)), 'a control in the lines');
      const shown = jsonLine({ text, value });
      holds(!CONTROL.test(shown) && !shown.includes('\n'), 'a control in JSON');
      holds(JSON.stringify(JSON.parse(shown)) === JSON.stringify({ text, value }), 'JSON that says something else');
      holds(/^(?:[\w@%+=:,./-]+|'[\s\S]*')$/.test(shellWord(text)), 'a word that a shell would take apart');
      shortId(text);
      const last = new LastWords();
      last.take(Buffer.from(text));
      holds(
        last.lines.every((one) => !CONTROL.test(one)),
        'a control in the last words',
      );

      const secrets = { taskId: text, session: { sessionId: 'a', protocolVersion: '' } };
      redacted(value, secrets);
      const wait = retryAfterMs(text);
      holds(wait === undefined || (wait >= 0 && wait <= 86_400_000), 'a wait out of bounds');
      return taskViewOf(value) === null && wait === undefined ? 'refused' : 'accepted';
    },
  }),
});
