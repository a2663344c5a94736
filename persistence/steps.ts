import type { z } from 'zod';
import { sha256 } from '../machines/digest.ts';
import type {
  AcceptAnswer,
  CommitAnswer,
  CreateAnswer,
  NotCreated,
  OperationLedger,
  Step,
} from '../machines/operation-ledger.ts';
import { adapterSwitch, type PartitionKeys } from './keys.ts';
import { pack, type Stored } from './packing.ts';
import { fieldsDigest, fieldTexts, mismatchIn, packBody, payloadArgs, shortCommand } from './record-form.ts';
import { accepted, committed, created, toRecord } from './replies.ts';
import type { Store } from './store.ts';

export interface SizeLimits {
  readonly snapshotBytes: number;
  readonly payloadBytes: number;
}

/** What the nudge of an acceptance has behind its operation. */
export const READY = ' ready';

/** The three verbs that write an operation: create, commit, accept. */
export class Steps {
  readonly #store: Store;
  readonly #limits: SizeLimits;

  constructor(store: Store, limits: SizeLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  async create(step: Step, lease: { readonly owner: string; readonly ms: number } | null): Promise<CreateAnswer> {
    this.#checkSizes(step);
    await this.#store.refuseOlderLayout();
    const partition = this.#store.partitionOf(step.operationId);
    const answer = await this.#store.write(created, {
      script: 'create',
      keys: [
        ...stepKeys(partition, step),
        partition.operations,
        partition.switches,
        partition.tombstones,
        partition.sides,
      ],
      args: [
        ...stepArgs(step),
        lease?.owner ?? '',
        lease ? wholeMs(lease.ms) : '',
        switchOf(step),
        ...payloadsOf(step),
      ],
      nudge: step.operationId,
      confirm: true,
      history: { partition, how: 'adopt' },
    });
    switch (answer[0]) {
      case 'created':
      case 'exists':
        return { kind: answer[0], record: toRecord(step.operationId, answer[1]) };
      case 'purged':
        return { kind: 'purged', tombstone: answer[1] };
      case 'other-side':
        return { kind: 'otherSide', side: answer[1] };
      default:
        return notCreated(answer);
    }
  }

  async commit(step: Parameters<OperationLedger['commit']>[0]): Promise<CommitAnswer> {
    this.#checkSizes(step);
    await this.#store.refuseOlderLayout();
    const partition = this.#store.partitionOf(step.operationId);
    const answer = await this.#store.write(committed, {
      script: 'commit',
      keys: [...stepKeys(partition, step), partition.switches, ...uncertaintyKeys(partition, step)],
      args: [
        ...stepArgs(step),
        step.expectedRevision,
        step.leaseOwner ?? '',
        step.releaseLease ? '1' : '',
        switchOf(step),
        ...payloadsOf(step),
      ],
      ...(step.quiet ? {} : { nudge: step.operationId }),
      confirm: step.creates !== undefined,
      history: { partition, ...(step.olderHistory === undefined ? {} : { how: step.olderHistory }) },
    });
    switch (answer[0]) {
      case 'older-history':
        return { kind: 'olderHistory' };
      case 'missing':
        return { kind: 'missing' };
      case 'scope':
        throw scopeChanged(step, answer[1]);
      case 'committed':
      case 'conflict':
        return { kind: answer[0], revision: answer[1] };
      default:
        return notCreated(answer);
    }
  }

  async acceptTerminal(step: Parameters<OperationLedger['acceptTerminal']>[0]): Promise<AcceptAnswer> {
    this.#checkSizes(step);
    await this.#store.refuseOlderLayout();
    const partition = this.#store.partitionOf(step.operationId);
    const [kind, value] = await this.#store.write(accepted, {
      script: 'accept',
      keys: [
        ...stepKeys(partition, step),
        partition.receipts,
        partition.readyRows,
        partition.readyQueue,
        partition.switches,
      ],
      args: [
        ...stepArgs(step),
        step.expectedRevision,
        fieldsDigest(step.expected),
        step.receipt,
        step.receiptId,
        sha256(step.receipt),
        step.fields.requestDigest,
        step.fields.terminalState,
        ...fieldTexts(step.expected),
        ...payloadsOf(step),
      ],
      nudge: `${step.operationId}${READY}`,
      confirm: true,
      history: { partition },
    });
    switch (kind) {
      case 'missing':
        return { kind };
      case 'duplicate':
        return { kind, receipt: value };
      case 'mismatch':
        return { kind, field: typeof value === 'string' ? value : mismatchIn(value, step) };
      case 'scope':
        throw scopeChanged(step, value);
      default:
        return { kind, revision: value };
    }
  }

  #checkSizes(step: Step): void {
    refuseLarger('snapshot', step.operationId, step.snapshot, this.#limits.snapshotBytes);
    for (const { digest, text } of step.payloads) {
      refuseLarger(`payload ${digest}`, step.operationId, text, this.#limits.payloadBytes);
    }
  }
}

type Refused = Extract<
  z.output<typeof created>,
  readonly ['epoch-over' | 'creation-off' | 'switched-off', ...unknown[]]
>;

function notCreated(answer: Refused): NotCreated {
  switch (answer[0]) {
    case 'epoch-over':
      return { kind: 'epochOver', epoch: answer[1] };
    case 'creation-off':
      return { kind: 'creationOff' };
    case 'switched-off':
      return { kind: 'switchedOff', state: answer[1] };
  }
}

/** The switch that a step asks for, or none. */
const switchOf = ({ creates }: Step): string => (creates === undefined ? '' : adapterSwitch(creates));

/** KEYS 1..5 of a step. */
function stepKeys(partition: PartitionKeys, { operationId, scope }: Step): string[] {
  return [
    partition.operation(operationId),
    partition.history(operationId),
    partition.payloads(operationId),
    partition.due(scope),
    partition.scopes,
  ];
}

/** KEYS 7 and 8 of a commit: where the operation leaves the marks, and where it enters them. Most steps have neither. */
function uncertaintyKeys({ unknown, parked }: PartitionKeys, { uncertainty }: Step): string[] {
  switch (uncertainty?.after) {
    case 'open':
      return [parked, unknown];
    case 'parked':
      return [unknown, parked];
    default:
      return uncertainty?.before ? [uncertainty.before === 'open' ? unknown : parked] : [];
  }
}

/** ARGV 2..9 of a step. */
function stepArgs(step: Step): Stored[] {
  return [
    step.operationId,
    shortCommand(step.commandId),
    packBody(step, step.operationId),
    step.scope,
    step.dueAt === null ? '' : wholeMs(step.dueAt),
    step.history === null ? '' : pack(JSON.stringify(step.history), step.operationId),
    fieldsDigest(step.fields),
    step.fields.executionEpoch,
  ];
}

function payloadsOf({ payloads, operationId }: Step): Stored[] {
  return payloads.flatMap(({ digest, text }) => payloadArgs(digest, text, operationId));
}

/** What is later than the last time that can be written in digits is as good as that one. */
export function wholeMs(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a time in milliseconds`);
  return String(Math.min(Math.max(0, Math.round(value)), Number.MAX_SAFE_INTEGER));
}

export function refuseLarger(what: string, operationId: string, text: string, limit: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return;
  throw new RangeError(`the ${what} of ${operationId} has ${bytes} bytes, the limit is ${limit}; nothing was written`);
}

function scopeChanged(step: Step, scope: string): Error {
  return new Error(
    `${step.operationId} is served by the scope "${scope}" for good; a step cannot move it to "${step.scope}"`,
  );
}
