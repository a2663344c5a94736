/**
 * Shadows (R1): beside an ordinary call, the same call once more as an operation that says so to the server, in a ledger
 * of its own kind, to be compared and for nothing else. Whatever becomes of it, the ordinary call never notices.
 */
import type { OperationLedger } from '../operation-ledger.ts';
import type { Payload } from '../operation-protocol.ts';
import { readRules, ruleOf } from '../rollout/rules.ts';
import { compare, type OrdinaryOutcome, ordinarySide, recordOrdinary } from '../shadow/comparison.ts';
import type { ToolCall } from './call.ts';
import type { Executor } from './executor.ts';
import { wordsOf } from './log.ts';
import type { Route } from './routes.ts';

/** Reads the outcome of an ordinary call; `null`: there is nothing to compare. */
export interface OrdinaryReader<T> {
  /** From what it returned. Default: the result of an MCP `tools/call`. */
  readonly returned: (value: T) => OrdinaryOutcome | null;
  /** From what it threw. Default: nothing, for a call that broke off has no outcome, and only its caller knows the difference. */
  readonly thrown: (error: unknown) => OrdinaryOutcome | null;
}

/** Whether a call has a shadow now, and else why not. That it has none is no failure of the call. */
export type ShadowAnswer =
  | { readonly kind: 'begun'; readonly operationId: string }
  | { readonly kind: 'none'; readonly reason: string };

export class Shadows {
  /** `executor` makes operations; `inner` is its like on the ledger of shadows. */
  constructor(
    private readonly executor: Executor,
    private readonly inner: Executor,
  ) {
    inner.env.store.onCommit(({ record, snapshot }) => {
      if (snapshot.status === 'done') this.#kept(record.operationId, compare(this.#ledger, record.operationId));
    });
  }

  get #ledger(): OperationLedger {
    return this.inner.env.ledger;
  }

  /** Makes the ordinary call, which begins at once and waits for nothing, and the shadow beside it. */
  async beside<T>(call: ToolCall, ordinary: () => Promise<T>, read: OrdinaryReader<T>): Promise<T> {
    const side = (async () => ordinary())();
    this.#kept(call.callNodeId, this.#begin(call));
    try {
      const returned = await side;
      this.#report(call, () => read.returned(returned));
      return returned;
    } catch (error) {
      this.#report(call, () => read.thrown(error));
      throw error;
    }
  }

  /** Takes down what the ordinary call came to, and compares if the shadow is over. */
  async report(call: ToolCall, outcome: OrdinaryOutcome): Promise<void> {
    const operationId = this.inner.operationIdOf(call);
    // At once: the caller may change what it got.
    const entry = ordinarySide(outcome, this.#ledger.maxPayloadBytes);
    const { side } = await this.executor.route(call);
    if (side !== 'shadow') {
      throw new Error(`the call ${call.callNodeId} takes the side "${side}": it has no shadow to be compared with`);
    }
    await recordOrdinary(this.#ledger, operationId, entry);
    await compare(this.#ledger, operationId);
  }

  #report(call: ToolCall, read: () => OrdinaryOutcome | null): void {
    this.#kept(
      call.callNodeId,
      (async () => {
        const outcome = read();
        if (outcome !== null) await this.report(call, outcome);
      })(),
    );
  }

  async #begin(call: ToolCall): Promise<void> {
    const answer = await this.begin(call, await this.executor.route(call));
    if (answer.kind === 'begun') return;
    const { log } = this.executor.env;
    log({ level: 'info', event: 'shadow.none', detail: { callNodeId: call.callNodeId, why: answer.reason } });
  }

  /**
   * Begins the shadow of a call, or finds the one there is. The operator's word for the tool is asked for anew: a shadow that
   * was not begun before it was taken back is never begun.
   */
  async begin(call: ToolCall, { side, operationId }: Route): Promise<ShadowAnswer> {
    if (side !== 'shadow') return none(`the call takes the side "${side}"`);
    const adapter = this.executor.adapterOf(call);
    const { ledger, creationAllowed } = this.executor.env;
    const rule = ruleOf(readRules((await ledger.rolloutOf(operationId)).text), { tool: call.tool, adapter });
    if (rule?.mode !== 'shadow') return none('the rule that asked for a shadow was taken back');
    const { allowed } = await ledger.creationOf(operationId);
    if (!allowed || !creationAllowed()) return none('creating operations is switched off');
    const state = await ledger.adapterState(adapter, operationId);
    if (state !== 'active') return none(`the adapter ${adapter} is ${state}`);
    const answer = await this.inner.submit({ ...call, effectFree: true });
    return answer.kind === 'accepted'
      ? { kind: 'begun', operationId: answer.operationId }
      : none(`${answer.reason} (${answer.next})`);
  }

  /** Nobody waits for it, and whatever becomes of it is said in the log. */
  #kept(about: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      const { log } = this.executor.env;
      log({ level: 'warn', event: 'shadow.failed', detail: { about, why: wordsOf(error) } });
    });
  }
}

const none = (reason: string): ShadowAnswer => ({ kind: 'none', reason });

/** The outcome of an ordinary `tools/call` of MCP, which is what most ordinary calls return. */
export function readToolResult(returned: unknown): OrdinaryOutcome | null {
  if (typeof returned !== 'object' || returned === null) return null;
  const value = returned as Extract<Payload, { kind: 'result' }>['value'];
  return { kind: 'result', value, isError: 'isError' in returned && returned.isError === true };
}
