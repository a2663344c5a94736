/** The open question channel of one operation in this process: opened once, read as facts, closed when its state is left. */
import type { ApprovalPort, OpenRound } from '../approval-gate/round.ts';
import type { InputChannel, InputReply, InputRequest, Payload } from '../operation-protocol.ts';
import type { Effect } from '../tool-operation/machine.ts';
import { answer } from './commands.ts';
import type { OperationDrive } from './drive.ts';
import { permit } from './effects/requests.ts';
import { stampOf } from './environment.ts';
import { type Issued, type Told, told } from './facts.ts';
import { untilDefinite } from './keep.ts';
import { PlainError, wordsOf } from './log.ts';
import { askedOnChannel, openRound } from './question.ts';

type News = (issued: Issued) => Promise<Told>;
/** How the channel ended. A payload must not be lost with it: it may not be had a second time. */
interface Ending {
  readonly reason: string;
  readonly payload: Payload | null;
}
const HOLDING: ReadonlySet<Effect> = new Set(['listen', 'holdInput', 'sendInput', 'deliverInput']);

/** The question was withdrawn while the ledger was away. */
const givenUpOn = (withdrawn: AbortSignal) => (error: unknown) => {
  if (withdrawn.aborted) return null;
  throw error;
};

/** A port that never gives a fitting answer must not be asked for ever. */
const MAX_ASKS = 10;

class NoFittingAnswer extends PlainError {
  override readonly name = 'NoFittingAnswer';
  constructor() {
    super(`no fitting answer in ${MAX_ASKS} tries; the question stays open for others`);
  }
}

export class HeldInput {
  #channel: InputChannel | null = null;
  #news: News[] = [];
  /** The end of the channel, until somebody has heard of it. */
  #ending: Ending | null = null;
  #arrived = new AbortController();
  #asked: { readonly round: number; readonly withdraw: AbortController } | null = null;

  constructor(private readonly drive: OperationDrive) {}

  isOpen(): boolean {
    return this.#channel !== null;
  }

  async open(signal: AbortSignal = this.drive.stopping): Promise<void> {
    // What an earlier channel ended with comes first.
    if (this.#channel || this.#ending) return;
    const { context, env } = this.drive;
    if (context.taskId === null) return;
    const session = await env.connections.session(context);
    await permit(this.drive, signal);
    if (signal.aborted) return;
    const opened = session.openInput(
      { taskId: context.taskId, taskCreatedAt: context.taskCreatedAt, tool: context.tool.name },
      {
        request: (request) => this.#tell(async (issued) => this.#requested(issued, request)),
        closed: (reason, payload) => {
          const ending = { reason, payload: payload ?? null };
          if (this.#channel !== opened) {
            this.#tellLate(ending);
            return;
          }
          this.#channel = null;
          this.#ending = ending;
          this.#tell(async (issued) => this.ended(issued, reason));
        },
      },
    );
    this.#channel = opened;
  }

  /** The next thing the channel has to say, or `null` after `ms` or when `signal` aborts. */
  async next(ms: number, signal: AbortSignal): Promise<News | null> {
    if (this.#news.length === 0 && ms > 0) {
      this.#arrived = new AbortController();
      await this.drive.env.clock.sleep(ms, AbortSignal.any([signal, this.#arrived.signal]));
    }
    return this.#news.shift() ?? null;
  }

  /** The end of the channel, as it was told; else for `reason`. */
  ended(issued: Issued, reason: string): Told {
    const { reason: why, payload } = this.#ending ?? { reason, payload: null };
    this.#ending = null;
    this.#news = [];
    return told.channelClosed(why, payload, issued, stampOf(this.drive.env));
  }

  /** The open question of the record, with what binds an answer to it. */
  async round(): Promise<OpenRound> {
    return openRound(this.drive.env.ledger, this.drive.opened);
  }

  /** Shows the question once per round; the answer becomes a command like anybody else's. */
  askHuman(round: OpenRound): void {
    const { approval } = this.drive.env;
    if (approval === null || this.#asked?.round === round.round) return;
    this.#asked?.withdraw.abort();
    const withdraw = new AbortController();
    this.#asked = { round: round.round, withdraw };
    void this.#converse(round, approval, withdraw.signal).catch((error: Error) => {
      this.drive.env.log({
        level: 'error',
        event: 'approval.failed',
        operationId: round.operationId,
        detail: { why: wordsOf(error) },
      });
    });
  }

  /** Asks until an answer fits, the question is no longer open, or the port leaves it to others. */
  async #converse(round: OpenRound, approval: ApprovalPort, withdrawn: AbortSignal): Promise<void> {
    let refusal: string | null = null;
    for (let tries = 0; tries < MAX_ASKS && !withdrawn.aborted; tries++) {
      const reply = await approval.ask(round, withdrawn, refusal);
      if (reply === null || withdrawn.aborted) return;
      const { operationId, schemaDigest } = round;
      const answered = await untilDefinite(this.drive.env, operationId, 'input.reply', withdrawn, () =>
        answer(this.drive.env, { operationId, round: round.round, schemaDigest, reply }),
      ).catch(givenUpOn(withdrawn));
      if (answered === null) return;
      if (answered.kind !== 'refused' || !answered.guards.includes('replyFitsSchema')) {
        this.drive.wake();
        return;
      }
      refusal = answered.reason;
    }
    if (!withdrawn.aborted) throw new NoFittingAnswer();
  }

  async deliver(reply: InputReply): Promise<boolean> {
    return this.#channel ? this.#channel.deliver(reply) : false;
  }

  /** Whatever is no longer owed is let go; letting go never cancels (B14). */
  keepOnlyFor(effect: Effect | null): void {
    if (effect !== 'holdInput') {
      this.#asked?.withdraw.abort();
      this.#asked = null;
    }
    if (effect === null || !HOLDING.has(effect)) this.close();
  }

  close(): void {
    const channel = this.#channel;
    this.#channel = null;
    this.#news = [];
    this.#asked?.withdraw.abort();
    channel?.close();
    if (this.#ending) this.#tellLate(this.#ending);
    this.#ending = null;
  }

  /** Nobody waits for the channel any more: a result that it ended with is taken in from wherever the record is by then. */
  #tellLate({ reason, payload }: Ending): void {
    if (payload === null) return;
    const { drive } = this;
    drive.tellLate(Promise.resolve(told.channelClosed(reason, payload, drive.issue(), stampOf(drive.env))));
  }

  #tell(news: News): void {
    this.#news.push(news);
    this.#arrived.abort();
  }

  async #requested(issued: Issued, request: InputRequest): Promise<Told> {
    return told.requested(askedOnChannel(request), issued, stampOf(this.drive.env));
  }
}
