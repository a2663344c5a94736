/** SIGINT, SIGTERM and SIGHUP as wishes: this command is to stop waiting. None of them is a cancel (B14). */
export type Wish = 'interrupt' | 'terminate';

export class Interrupts {
  #listener: ((wish: Wish) => void) | null = null;
  #pending: Wish | null = null;
  readonly #interrupt = () => this.raise('interrupt');
  readonly #terminate = () => this.raise('terminate');

  /** `early`: a wish came before anybody listens; `impatient`: it came again. */
  constructor(private readonly told: { early(): void; impatient(): void }) {
    process.on('SIGINT', this.#interrupt).on('SIGTERM', this.#terminate).on('SIGHUP', this.#terminate);
  }

  raise(wish: Wish): void {
    if (this.#listener) {
      this.#listener(wish);
    } else if (this.#pending === null) {
      this.#pending = wish;
      this.told.early();
    } else {
      this.told.impatient();
    }
  }

  /** A wish that came earlier is handed over now. */
  listen(listener: (wish: Wish) => void): void {
    this.#listener = listener;
    const pending = this.#pending;
    this.#pending = null;
    if (pending) listener(pending);
  }

  close(): void {
    process.off('SIGINT', this.#interrupt).off('SIGTERM', this.#terminate).off('SIGHUP', this.#terminate);
  }
}
