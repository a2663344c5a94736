interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** So many asks go together at most. */
const TOGETHER = 64;

/**
 * Small asks of one kind that come while another about the same is under way go together with the next: few steps under load,
 * and nobody waits without.
 */
export class Gathered<Ask, Answer> {
  /** By what they are about; who is being sent is not here any more, and nothing is where nobody asks. */
  readonly #waiting = new Map<string, Waiting<Ask, Answer>[]>();

  /** `send` takes all that wait for the same `about`, and answers as many, in their order. */
  ask(about: string, ask: Ask, send: (asks: readonly Ask[]) => Promise<readonly Answer[]>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const one = { ask, resolve, reject };
      const waiting = this.#waiting.get(about);
      if (waiting) {
        waiting.push(one);
        return;
      }
      this.#waiting.set(about, [one]);
      void this.#drain(about, send);
    });
  }

  async #drain(about: string, send: (asks: readonly Ask[]) => Promise<readonly Answer[]>): Promise<void> {
    const waiting = this.#waiting.get(about) ?? [];
    // Whoever asks in the same turn goes with the first.
    await undefined;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, TOGETHER);
      try {
        const answers = await send(batch.map(({ ask }) => ask));
        for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#waiting.delete(about);
  }
}
