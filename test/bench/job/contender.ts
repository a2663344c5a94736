/**
 * The job that is measured, whoever does it: create a durable operation, read its status three times (working, working,
 * completed), fetch a result of 200 bytes, accept it, deliver it once to a consumer that leases and acknowledges it.
 */
export interface Contender {
  /** Does one job. `delivered` is told when its consumer has the result; resolves when that is acknowledged. */
  job(name: string, delivered: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface Setting {
  readonly url: string;
  readonly inFlight: number;
  /** Bytes of the record that a hand-written job writes with each step: as many as ours. */
  readonly recordBytes: number;
}

export type OpenContender = (setting: Setting) => Promise<Contender>;

/** What the call returns: 200 bytes of JSON. */
export const RESULT = { content: [{ type: 'text', text: 'x'.repeat(161) }] } as const;
export const ARGUMENTS = { topic: 'tides', depth: 3, language: 'en' } as const;
/** How often the status says "working" before it says "completed". */
export const WORKING_POLLS = 2;

/** Promises by name, told from elsewhere. */
export class Waiting<T> {
  readonly #resolvers = new Map<string, (value: T) => void>();

  until(name: string): Promise<T> {
    return new Promise((resolve) => this.#resolvers.set(name, resolve));
  }

  /** Whoever waits for it; a second telling is an error: a job is delivered once. */
  tell(name: string, value: T): void {
    const resolve = this.#resolvers.get(name);
    if (!resolve) throw new Error(`${name} was delivered twice, or never asked for`);
    this.#resolvers.delete(name);
    resolve(value);
  }

  has(name: string): boolean {
    return this.#resolvers.has(name);
  }
}
