/**
 * The data of the events in a text/event-stream (WHATWG HTML, 9.2.6), as the text comes in. Only new text is looked at, so
 * that one large event in many pieces costs no more than its length. Ids and retry times are left alone.
 */
export class EventLines {
  readonly #emit: (data: string) => void;
  #line: string[] = [];
  #data: string[] = [];
  #type = '';
  #afterReturn = false;

  constructor(emit: (data: string) => void) {
    this.#emit = emit;
  }

  push(text: string): void {
    if (text === '') return;
    // A line end may be cut in two.
    const rest = this.#afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#afterReturn = text.endsWith('\r');
    const parts = rest.split(/\r\n|\n|\r/);
    const last = parts.pop() ?? '';
    for (const part of parts) {
      this.#line.push(part);
      this.#field(this.#line.join(''));
      this.#line = [];
    }
    if (last !== '') this.#line.push(last);
  }

  #field(line: string): void {
    if (line === '') {
      if (this.#data.length > 0 && (this.#type === '' || this.#type === 'message')) this.#emit(this.#data.join('\n'));
      this.#data = [];
      this.#type = '';
      return;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#type = value;
  }
}
