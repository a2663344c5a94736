/** Who looks at the list: asks as the page in a browser does, and tells what it is shown. */
import type { ListView } from '../../../visualizer/view/schema.ts';

export class Visitor {
  readonly #stop = new AbortController();
  readonly #views: AsyncIterator<ListView>;

  private constructor(views: (signal: AbortSignal) => AsyncIterator<ListView>) {
    this.#views = views(this.#stop.signal);
  }

  /** Loads the page with what belongs to it, then asks for the first part of the list. */
  static async come(url: string, query = ''): Promise<Visitor> {
    for (const path of ['', 'page.js', 'page.css']) await (await fetch(`${url}${path}`)).text();
    return new Visitor((signal) => viewsOf(`${url}api/list?${query}`, signal));
  }

  /** Waits for a view that fits. */
  async sees(fits: (view: ListView) => boolean): Promise<ListView> {
    for (;;) {
      const { value, done } = await this.#views.next();
      if (done) throw new Error('the page was closed');
      if (fits(value)) return value;
    }
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#views.next().catch(() => undefined);
  }
}

async function* viewsOf(address: string, signal: AbortSignal): AsyncGenerator<ListView> {
  const { body } = await fetch(address, { signal });
  if (body === null) throw new Error('the page answered with nothing');
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const events = (text + chunk).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^event: seen\ndata: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data) as ListView;
    }
  }
}
