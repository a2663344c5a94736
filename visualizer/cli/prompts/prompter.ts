/** The terminal, given to one prompt at a time. Prompts are on stderr: stdout belongs to the answer. */
import { stderr, stdin } from 'node:process';
import type { Output } from '../output.ts';

/** What @inquirer/prompts takes beside the question. */
export interface PromptContext {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/** Somebody is there who can be asked. */
export const isInteractive = (): boolean => stdin.isTTY === true && stderr.isTTY === true;

/** Ctrl-C inside a prompt. */
export const isInterrupted = (error: unknown): boolean => error instanceof Error && error.name === 'ExitPromptError';
/** The question was withdrawn. */
export const isWithdrawn = (error: unknown): boolean => error instanceof Error && error.name === 'AbortPromptError';

export class Prompter {
  #turn: Promise<unknown> = Promise.resolve();
  #watching: ((chunk: Buffer) => void) | null = null;
  #prompting = false;

  constructor(private readonly output: Output) {}

  /** Rejects like the prompt does: see `isInterrupted` and `isWithdrawn`. */
  ask<T>(signal: AbortSignal, prompt: (context: PromptContext) => Promise<T>): Promise<T> {
    const mine = this.#turn.then(
      () => this.#ask(signal, prompt),
      () => this.#ask(signal, prompt),
    );
    this.#turn = mine;
    return mine;
  }

  async #ask<T>(signal: AbortSignal, prompt: (context: PromptContext) => Promise<T>): Promise<T> {
    this.#prompting = true;
    this.#listen(false);
    this.output.hold();
    try {
      return await prompt({ input: stdin, output: stderr, signal });
    } finally {
      this.output.release();
      this.#prompting = false;
      this.#listen(this.#watching !== null);
    }
  }

  /**
   * Takes Ctrl-C from the keyboard and not as a signal: the terminal sends the signal to the whole process group, and a
   * stdio server in it would be dead before anybody could choose to wait for it.
   */
  watchKeyboard(interrupted: () => void): void {
    this.#watching = (chunk) => {
      if (chunk.includes(0x03)) interrupted();
      if (chunk.includes(0x1c)) process.kill(process.pid, 'SIGQUIT');
    };
    if (!this.#prompting) this.#listen(true);
  }

  /** Gives the terminal back as it was. */
  close(): void {
    this.#listen(false);
    this.#watching = null;
  }

  #listen(on: boolean): void {
    if (this.#watching === null) return;
    stdin.off('data', this.#watching);
    if (on) stdin.on('data', this.#watching).resume();
    else stdin.pause();
    stdin.setRawMode(on);
  }
}
