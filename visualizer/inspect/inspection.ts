/** One operation in the Stately inspector while a command follows it. It never disturbs the operation. */
import type { Opened } from '../../machines/actor/store.ts';
import { type OperationLedger, systemClock } from '../../machines/index.ts';
import { type Bridge, openBridge } from './bridge.ts';
import { openFeed } from './feed.ts';
import { OperationStream } from './stream.ts';

/** How long the last step may take to be shown, ms. */
const LAST_MS = 1_000;

export interface InspectionOptions {
  readonly ledger: OperationLedger;
  /** A port for viewers, 0: any that is free; or the address of a receiver. */
  readonly at: number | string;
  /** Arguments stay out of the record; ids, addresses and the words of servers do not: they are sent only then. */
  readonly full: boolean;
  readonly failed: (error: unknown) => void;
}

export class Inspection {
  readonly #stream: OperationStream;
  #telling: Promise<void> = Promise.resolve();

  private constructor(
    private readonly bridge: Bridge,
    private readonly options: InspectionOptions,
  ) {
    this.#stream = new OperationStream((frame) => bridge.send(frame), options.full);
  }

  /** Rejects with the error of `listen` where the port is in use, or where nothing receives. */
  static async open(options: InspectionOptions): Promise<Inspection> {
    const { at, failed } = options;
    return new Inspection(await (typeof at === 'number' ? openBridge(at) : openFeed(at, failed)), options);
  }

  get url(): string {
    return this.bridge.url;
  }

  /** In the order of the commits; nobody waits for it. */
  tell(opened: Opened): void {
    const { ledger, failed } = this.options;
    this.#telling = this.#telling
      .then(async () =>
        this.#stream.tell(opened, await ledger.readHistory(opened.record.operationId, { refused: true })),
      )
      .catch(failed);
  }

  /** What is being read is waited for a moment: a ledger that is away keeps nobody. */
  async close(): Promise<void> {
    const told = new AbortController();
    await Promise.race([this.#telling, systemClock.sleep(LAST_MS, told.signal)]);
    told.abort();
    await this.bridge.close();
  }
}
