/** Asks of one kind that come while another is under way go together with the next: few of them under load, none that waits without. */
export class Gathered<Ask, Answer> {
  readonly #send: (asks: readonly Ask[]) => Promise<readonly Answer[]>;
  readonly #limit: number;
  #waiting: {
    readonly ask: Ask;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  #sending = false;

  /** `send` answers as many as it is asked, in their order. `limit`: so many go together at most. */
  constructor(send: (asks: readonly Ask[]) => Promise<readonly Answer[]>, limit: number) {
    this.#send = send;
    this.#limit = limit;
  }

  ask(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ask, resolve, reject });
      if (!this.#sending) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#sending = true;
    // Whoever asks in the same turn goes with the first.
    await undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#limit);
      try {
        const answers = await this.#send(batch.map(({ ask }) => ask));
        for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#sending = false;
  }
}
