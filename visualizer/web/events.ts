/**
 * Server-sent events: one stream shows one thing, a part of the list or one operation, and each event is all of it, so that
 * whoever comes back after a break has nothing to make up for.
 */
import type { ServerResponse } from 'node:http';

/** A looker is told at most this often, ms. */
const GATHER_MS = 120;
/** A dead connection is noticed by what is written to it, ms. */
const HEARTBEAT_MS = 15_000;

export interface Sight {
  /** What is to be seen now. */
  look(): Promise<unknown>;
  /** Told that it may be otherwise. Returns the unsubscribe. */
  onChange(changed: () => void): () => void;
  /** ms after which it is looked at, whatever was told. */
  readonly everyMs: number;
}

export function stream(response: ServerResponse, sight: Sight): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
  response.write('retry: 1000\n\n');
  new Stream(response, sight).start();
}

class Stream {
  #last = '';
  #looking = false;
  #again = false;
  #gathering: NodeJS.Timeout | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly sight: Sight,
  ) {}

  start(): void {
    const { response, sight } = this;
    const unsubscribe = sight.onChange(() => this.#soon());
    const looks = setInterval(() => this.#soon(), sight.everyMs);
    const beats = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS);
    response.once('close', () => {
      unsubscribe();
      clearInterval(looks);
      clearInterval(beats);
      clearTimeout(this.#gathering);
    });
    void this.#look();
  }

  #soon(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      void this.#look();
    }, GATHER_MS);
  }

  async #look(): Promise<void> {
    // One look at a time: a slow ledger is not asked twice for the same.
    if (this.#looking) {
      this.#again = true;
      return;
    }
    this.#looking = true;
    try {
      this.#send('seen', await this.sight.look());
    } catch (error) {
      this.#send('trouble', { message: (error as Error).message });
    }
    this.#looking = false;
    if (this.#again) {
      this.#again = false;
      this.#soon();
    }
  }

  #send(name: string, value: unknown): void {
    const { response } = this;
    if (response.closed || response.writableNeedDrain) return;
    // Only the clock moved: no news.
    const news = `${name} ${JSON.stringify(value, (key, part) => (key === 'now' ? undefined : part))}`;
    if (news === this.#last) return;
    this.#last = news;
    response.write(`event: ${name}\ndata: ${JSON.stringify(value)}\n\n`);
  }
}
