/** What a stdio server says on stderr: its last lines, for the moment when it does not start or ends. Never stored. */
import { oneLine } from './text.ts';

const KEPT_BYTES = 8_192;
const SHOWN_LINES = 10;
const LINE_CHARS = 200;

export class LastWords {
  #tail = Buffer.alloc(0);

  readonly take = (chunk: Buffer): void => {
    this.#tail = Buffer.concat([this.#tail, chunk]).subarray(-KEPT_BYTES);
  };

  /** Safe to print; the newest last. */
  get lines(): readonly string[] {
    return this.#tail
      .toString('utf8')
      .split(/\r?\n/)
      .map((line) => oneLine(line, LINE_CHARS))
      .filter((line) => line !== '')
      .slice(-SHOWN_LINES);
  }

  /** The same, for people: empty where nothing was said. */
  get told(): readonly string[] {
    const { lines } = this;
    return lines.length === 0 ? [] : ['its last words on stderr:', ...lines.map((line) => `  | ${line}`)];
  }
}
