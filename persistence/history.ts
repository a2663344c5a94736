import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { type HistoryMark, LedgerIncompatible, LedgerRegressed } from '../machines/operation-ledger.ts';
import { wholeNumber } from './replies.ts';

/** How long a newer mark may be known to this process alone before the file has it, ms. */
const SAVE_MS = 500;
const MAX_FILE_BYTES = 4 * 1024 ** 2;
export const NOTHING_SEEN: HistoryMark = { epoch: 1, number: 0 };

const mark = z.tuple([z.int().min(1), z.int().min(0)]);
const History = z.strictObject({ version: z.literal(1), ledgers: z.record(z.string(), z.record(z.string(), mark)) });
const Regressed = z.tuple([z.literal('regressed'), wholeNumber, wholeNumber, wholeNumber, wholeNumber]);
const Taken = z.tuple([z.unknown(), wholeNumber, wholeNumber]);

export const isOlder = (one: HistoryMark, other: HistoryMark): boolean =>
  one.epoch < other.epoch || (one.epoch === other.epoch && one.number < other.number);

/**
 * The highest history mark that was seen of each partition, remembered outside of the store: always in memory, and in a file
 * where one is given. A mark that comes late to the file costs attention, never a false alarm.
 */
export class SeenHistory {
  readonly #marks = new Map<string, HistoryMark>();
  readonly #ledger: string;
  readonly #file: string | null;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param ledger names the ledger in the file, which may hold several
   * @throws LedgerIncompatible the file is something else, or cannot be written
   */
  constructor(ledger: string, file: string | null) {
    this.#ledger = ledger;
    this.#file = file;
    this.#load();
    this.#save();
  }

  of(partition: string): HistoryMark {
    return this.#marks.get(partition) ?? NOTHING_SEEN;
  }

  /** What a script of the history is told: epoch and number. */
  argumentsFor(partition: string): [epoch: string, number: string] {
    const { epoch, number } = this.of(partition);
    return [String(epoch), String(number)];
  }

  /**
   * Takes the mark out of a reply and gives back the rest.
   * @throws LedgerRegressed the partition refused the step
   */
  take(partition: string, reply: unknown): unknown {
    const regressed = Regressed.safeParse(reply);
    if (regressed.success) {
      const [, epoch, number, seenEpoch, seenNumber] = regressed.data;
      throw new LedgerRegressed(partition, { epoch: seenEpoch, number: seenNumber }, { epoch, number });
    }
    const taken = Taken.safeParse(reply);
    if (!taken.success) throw new Error(`a script of the history gave an unknown answer: ${taken.error.message}`);
    const [rest, epoch, number] = taken.data;
    this.note(partition, { epoch, number });
    return rest;
  }

  note(partition: string, shown: HistoryMark): void {
    if (!isOlder(this.of(partition), shown)) return;
    this.#marks.set(partition, shown);
    if (this.#file === null) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      try {
        this.#save();
      } catch {
        // It is in memory, and tried again with the next step.
      }
    }, SAVE_MS).unref();
  }

  close(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#save();
  }

  #load(): void {
    for (const [partition, [epoch, number]] of Object.entries(this.#read().ledgers[this.#ledger] ?? {})) {
      const known = { epoch, number };
      if (isOlder(this.of(partition), known)) this.#marks.set(partition, known);
    }
  }

  /** Other processes may have written it meanwhile: of two marks the newer one stays. */
  #save(): void {
    if (this.#file === null) return;
    this.#load();
    const marks = Object.fromEntries([...this.#marks].map(([name, { epoch, number }]) => [name, [epoch, number]]));
    const { ledgers } = this.#read();
    const text = JSON.stringify({ version: 1, ledgers: { ...ledgers, [this.#ledger]: marks } });
    const fresh = `${this.#file}.${process.pid}.tmp`;
    try {
      mkdirSync(dirname(this.#file), { recursive: true });
      writeFileSync(fresh, text);
      renameSync(fresh, this.#file);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new LedgerIncompatible(
        `the history file ${this.#file} cannot be written (${code}): give another path, or none`,
        { cause: error },
      );
    }
  }

  #read(): z.output<typeof History> {
    if (this.#file === null) return { version: 1, ledgers: {} };
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { version: 1, ledgers: {} };
      throw new LedgerIncompatible(`the history file ${this.#file} cannot be read: give another path, or none`, {
        cause: error,
      });
    }
    const read = text.length > MAX_FILE_BYTES ? null : History.safeParse(parsed(text));
    if (read?.success) return read.data;
    throw new LedgerIncompatible(
      `${this.#file} is no history file of a ledger; it was left untouched. Give another path, or move it away: what it remembered is lost then`,
    );
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
