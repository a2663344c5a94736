/**
 * The one interface between the executor and its store. Every method is one atomic step on one partition.
 * A promise that rejects with `LedgerUnavailable` says nothing about the step: send the same command (same
 * `commandId`) again until the answer is definite. All times are ms of the ledger's own clock.
 */
import type { Json } from './digest.ts';
import type { Uncertainty } from './tool-operation/uncertainty.ts';

/** The fields that `acceptTerminal` compares (brief B12), as strings; an absent value is the empty string. */
export interface AcceptFields {
  readonly callNode: string;
  readonly requestDigest: string;
  readonly taskId: string;
  readonly toolVersion: string;
  readonly executionEpoch: string;
  readonly cancelGeneration: string;
  readonly terminalState: string;
  readonly resultDigest: string;
}

/** A record as the ledger stores it. `snapshot` is an opaque JSON text: the ledger never parses it. */
export interface StoredRecord {
  readonly operationId: string;
  /** Counts up by one with each commit; a decimal string. */
  readonly revision: string;
  readonly snapshot: string;
  readonly state: string;
  readonly scope: string;
  readonly dueAt: number | null;
  readonly lease: Lease | null;
}

export interface Lease {
  readonly owner: string;
  /** Raised by each claim by another owner. */
  readonly epoch: string;
  readonly until: number;
}

/** A payload that is written with a step, under its digest. */
export interface PayloadWrite {
  readonly digest: string;
  readonly text: string;
}

/** One line of an operation's history. */
export interface HistoryEntry {
  readonly at: number;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly executor: string;
  readonly note?: string;
  /** A refused fact: the guards that said no. Nothing changed. */
  readonly refused?: readonly string[];
}

/** What a step writes: the next snapshot and everything that must change with it. */
export interface Step {
  readonly operationId: string;
  /** Unique per intent, the same for every repetition of it. */
  readonly commandId: string;
  readonly snapshot: string;
  readonly state: string;
  readonly fields: AcceptFields;
  /** Who can serve the record: `endpoint:<id>` or `process:<id>`. */
  readonly scope: string;
  /** `null`: nothing is owed, the record leaves the due index. */
  readonly dueAt: number | null;
  readonly payloads: readonly PayloadWrite[];
  /** `null`: nothing worth a line (an unchanged status). */
  readonly history: HistoryEntry | null;
  /**
   * The adapter under which this step lets something be created at a server: taken only while that is active (R4), while
   * creating is switched on, and under an execution epoch that is not over (R3).
   */
  readonly creates?: string;
  /** Nobody else waits for it: it is not announced. */
  readonly quiet?: boolean;
  /** Whether the outcome was unknown before this step, and is after it. Absent: neither. For `vitals` only. */
  readonly uncertainty?: { readonly before: Uncertainty | null; readonly after: Uncertainty | null };
}

/**
 * What an adapter may do (R4). `draining`: nothing new is submitted, everything else goes on. `disabled`: no operation needs
 * it any more.
 */
export type AdapterState = 'active' | 'draining' | 'disabled';
/** The adapter is not active: nothing was written. */
export interface SwitchedOff {
  readonly kind: 'switchedOff';
  readonly state: AdapterState;
}

/** R3: the ledger's execution epoch is newer than the one of the step, or of the asker: nothing was written. */
export interface EpochOver {
  readonly kind: 'epochOver';
  /** The epoch of the ledger. */
  readonly epoch: number;
}
/** R3: creating operations is switched off for the fleet: nothing was written. */
export interface CreationOff {
  readonly kind: 'creationOff';
}
/** Nothing may be created, neither a record nor, by sending it, an operation at a server. */
export type NotCreated = EpochOver | CreationOff | SwitchedOff;
/**
 * What a ledger is for. `operations`: acceptances make ready rows. `shadow`: operations that are made to be compared (R1);
 * nothing in it can make a ready row. Fixed when the namespace is made.
 */
export type LedgerKind = 'operations' | 'shadow';

/** The namespace of the shadows of a namespace (R1). */
export const shadowNamespace = (namespace: string): string => `${namespace}/shadow`;

/** Who makes a call (R1, R2): this project, the way from before it, or that way with a shadow operation beside it. */
export type Side = 'operation' | 'ordinary' | 'shadow';

/** The rollout rules as the ledger keeps them: text that it never reads. */
export interface StoredRollout {
  /** Number and digest, other for each change; `0`: there never were any. */
  readonly version: string;
  readonly text: string;
}

/** The side of a call node. */
export type SideAnswer =
  /** It has a record, which wins over everything. */
  | { readonly kind: 'record'; readonly record: StoredRecord }
  /** It had one, which was purged. */
  | { readonly kind: 'purged'; readonly tombstone: Tombstone }
  /** Recorded at first contact, by this call or earlier. `why`: as it was given then. */
  | {
      readonly kind: 'side';
      readonly side: Side;
      readonly recordedAt: number;
      readonly version: string;
      readonly why: string;
    }
  /** Nothing is recorded, and the rules are others than the ones decided by: decide by these. */
  | { readonly kind: 'rules'; readonly rollout: StoredRollout }
  /** Nothing is recorded, and nothing was to be. */
  | { readonly kind: 'none' };
/** Operations whose outcome is unknown. Ages: ms of the ledger; 0 where there is none. */
export interface UnknownOutcomes {
  readonly count: number;
  readonly oldestAgeMs: number;
}
export interface LedgerVitals {
  /** Being looked up. */
  readonly open: UnknownOutcomes;
  /** Waiting for a human. */
  readonly parked: UnknownOutcomes;
  /** Age of the oldest ready row that is not acknowledged, leased or not, ms; 0: there is none. */
  readonly readyAgeMs: number;
}

/** What is left of an operation whose record was purged: enough to never make its call again. Times: ms of the ledger. */
export interface Tombstone {
  /** When its receipt was consumed: what the policy counts from. */
  readonly settledAt: number;
  readonly purgedAt: number;
  readonly requestDigest: string;
  /** What B12 compared: `completed`, `failed`, `cancelled`, `not_submitted` or `given_up`. */
  readonly terminalState: string;
  readonly receiptDigest: string;
  /** `null`: the receipt is there. */
  readonly receiptPurgedAt: number | null;
}

/** How long what is over is kept, ms from the consumption of its receipt; `null`: for ever. Each no shorter than the one before. */
export interface RetentionPolicy {
  /** Records, with inputs, results and history. */
  readonly recordsMs: number | null;
  /** Receipts, with their consumed marks. */
  readonly receiptsMs: number | null;
  readonly tombstonesMs: number | null;
}
export interface PurgeAsk {
  readonly policy: RetentionPolicy;
  /** Purges nothing: says what would go. */
  readonly dryRun?: boolean;
  /** Stops between two batches; a later call goes on. */
  readonly signal?: AbortSignal;
}
export interface PurgeReport {
  readonly dryRun: boolean;
  /** `bytes`: of names and values. What a store needs for them is more. */
  readonly records: { readonly count: number; readonly bytes: number };
  readonly receipts: { readonly count: number; readonly bytes: number };
  readonly tombstones: { readonly count: number; readonly bytes: number };
  /** Old enough and kept all the same, because something is wrong with them: see the audit. */
  readonly staying: { readonly open: number; readonly unconsumed: number; readonly unreceipted: number };
  /** Receipts that wait for their consumer: nothing of these operations goes. */
  readonly outbox: number;
  /** `false`: it was stopped. */
  readonly complete: boolean;
}

export interface MigrationProgress {
  /** The layout that it leads to. */
  readonly to: number;
  readonly what: string;
  /** Executors of the release before may run meanwhile, and after it. */
  readonly safeWithOlder: boolean;
  readonly partitions: readonly ('waiting' | 'under way' | 'done')[];
}
export interface LedgerLayout {
  /** Reached by every partition. */
  readonly layout: number;
  /** The newest that this release knows. */
  readonly newest: number;
  /** What executors write may need a reader of this version, and no newer one. */
  readonly writes: number;
  readonly migrations: readonly MigrationProgress[];
}

export type CreateAnswer =
  | { readonly kind: 'created'; readonly record: StoredRecord }
  /** The call node has a record already; compare its request digest before using it. */
  | { readonly kind: 'exists'; readonly record: StoredRecord }
  /** The call node took another side at first contact (R2): nothing was written. */
  | { readonly kind: 'otherSide'; readonly side: Side }
  /** The call node had a record, which was purged: its call was made. Nothing was written. */
  | { readonly kind: 'purged'; readonly tombstone: Tombstone }
  | NotCreated;

export type CommitAnswer =
  | { readonly kind: 'committed'; readonly revision: string }
  | { readonly kind: 'conflict'; readonly revision: string }
  | { readonly kind: 'missing' }
  /** The record is of an older history of its partition, which was forgotten in part: what followed it is unknown. */
  | { readonly kind: 'olderHistory' }
  | NotCreated;

export type AcceptAnswer =
  | { readonly kind: 'accepted'; readonly revision: string }
  /** The call node has its one receipt already. */
  | { readonly kind: 'duplicate'; readonly receipt: string }
  /** The name of the field of B12 that the stored record contradicts. */
  | { readonly kind: 'mismatch'; readonly field: keyof AcceptFields }
  | { readonly kind: 'conflict'; readonly revision: string }
  | { readonly kind: 'missing' };

export interface Claim {
  readonly claimed: readonly StoredRecord[];
  /** The time by which they are due. */
  readonly now: number;
  /** When to ask again at the latest; `null`: nothing waits. */
  readonly nextDueAt: number | null;
  /** The same by partition; one in which nothing waits is left out. */
  readonly nextDue: ReadonlyMap<number, number>;
  /** Partitions that give nothing out, because their history went backwards. */
  readonly regressed: ReadonlyMap<number, LedgerRegressed>;
  /** The ledger's epoch, where it is newer than the asker's. */
  readonly epochOver?: number;
}

export interface LiveProcess {
  readonly processId: string;
  /** Scopes that it serves besides its own. */
  readonly scopes: readonly string[];
}

/** What a nudge is about. */
export type News = 'step' | 'ready';

export interface ReadyRow {
  readonly operationId: string;
  /** The terminal receipt, as JSON text. */
  readonly receipt: string;
  /** Proves the consumer's lease when it acknowledges. */
  readonly token: string;
}

export interface AuditFinding {
  /** Or the partition, where it is all of it. */
  readonly operationId: string;
  readonly problem: string;
}

/** How far a history has come: the number rises with each step that writes, the epoch with each acknowledged regress. */
export interface HistoryMark {
  readonly epoch: number;
  readonly number: number;
}

export interface PartitionHistory {
  /** `p03`, as in the ids of its operations. */
  readonly partition: string;
  readonly shown: HistoryMark;
  /** The highest mark that was seen, by whoever asked the partition or is remembered here. */
  readonly seen: HistoryMark;
  /** `shown` is older than `seen`: acknowledged steps were forgotten, and nothing is written there any more. */
  readonly regressed: boolean;
  /** The last time that somebody acknowledged a regress of it. */
  readonly acknowledged: { readonly by: string; readonly at: number } | null;
}

export interface OperationSummary {
  readonly operationId: string;
  readonly state: string;
  readonly revision: string;
  readonly dueAt: number | null;
  readonly snapshot: string;
}

/** Of an operation that a list shows. */
export type SummaryAnswer =
  | { readonly kind: 'summary'; readonly summary: OperationSummary }
  /** It is at the revision that the asker knows. */
  | { readonly kind: 'known'; readonly dueAt: number | null }
  | { readonly kind: 'none' };

export interface OperationLedger {
  readonly kind: LedgerKind;
  /** Largest payload that a step may write, bytes. */
  readonly maxPayloadBytes: number;
  /** Over how many partitions the operations are spread: fixed for a namespace, as is the one of an operation. */
  readonly partitions: number;
  /** Where an operation of this call node stands: deterministic, carries its partition. Shape: `p<NN>.<sha256>`. */
  operationIdOf(node: { readonly namespace: string; readonly principal: string; readonly callNodeId: string }): string;
  /** The partition of an operation, 0, 1, ...; `null`: this is no operation of this ledger. */
  partitionOf(operationId: string): number | null;
  now(): Promise<number>;

  /** Creates the record of a call node, or answers with the one that is there. `lease`: the creator starts as its owner. */
  create(step: Step, lease: { readonly owner: string; readonly ms: number } | null): Promise<CreateAnswer>;
  load(operationId: string): Promise<StoredRecord | null>;
  /** The same, and what is left of a purged one. */
  find(
    operationId: string,
  ): Promise<
    | { readonly kind: 'record'; readonly record: StoredRecord }
    | { readonly kind: 'purged'; readonly tombstone: Tombstone }
    | { readonly kind: 'none' }
  >;
  /** Compare-and-set on the revision. `heldLease`: keep the lease (owner's own step); the due time then waits for its end. */
  commit(
    step: Step & {
      readonly expectedRevision: string;
      readonly leaseOwner?: string;
      readonly releaseLease?: boolean;
      /** What to do with a record of an older history: leave it one, or take it over into this one. Default: refuse the step. */
      readonly olderHistory?: 'keep' | 'adopt';
    },
  ): Promise<CommitAnswer>;
  /** B12: re-checks the fields, writes record, receipt and exactly one ready row in one step. */
  acceptTerminal(
    step: Step & {
      readonly expectedRevision: string;
      readonly expected: AcceptFields;
      readonly receipt: string;
      readonly receiptId: string;
    },
  ): Promise<AcceptAnswer>;

  /** Leases what is due and can be served by `scopes`. */
  claimDue(ask: {
    readonly owner: string;
    readonly scopes: readonly string[];
    readonly limit: number;
    readonly leaseMs: number;
    /** An executor of an older epoch than the ledger's gets nothing any more (R3). */
    readonly executionEpoch: number;
    /** Only there. Default: everywhere. */
    readonly partitions?: readonly number[];
    /** For how long what is due there must have been so, before this asker takes it, ms. Default: 0. */
    readonly overdueMs?: (partition: number, scope: string) => number;
  }): Promise<Claim>;
  /** `null`: the lease is somebody else's by now. */
  renewLease(
    operationId: string,
    owner: string,
    epoch: string,
    ms: number,
  ): Promise<{ readonly until: number; readonly revision: string } | null>;
  /**
   * Gives the lease back and sets the due time, if the lease is still the owner's. Where the record went on after
   * `revision`, its own due time stands.
   */
  releaseLease(
    operationId: string,
    owner: string,
    epoch: string,
    dueAt: number | null,
    revision: string,
  ): Promise<void>;

  readPayload(operationId: string, digest: string): Promise<string | null>;
  readReceipt(operationId: string): Promise<string | null>;
  /** The steps in order; `refused`: with the facts that were refused between them. */
  readHistory(operationId: string, options?: { readonly refused?: boolean }): Promise<readonly HistoryEntry[]>;
  /**
   * Writes down a fact that was refused after `revision`: nothing else changes, and nobody is told. What an operation has no room
   * for is left out.
   */
  noteRefused(operationId: string, revision: string, entry: HistoryEntry): Promise<void>;
  list(ask: {
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<{ readonly operations: readonly OperationSummary[]; readonly cursor: string | null }>;

  /** How many operations there are. Costs one step per partition, whatever it holds. */
  operationCount(): Promise<number>;
  /** The ids of the operations of a partition, page by page, the newest first. */
  newest(ask: {
    readonly partition: number;
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<{ readonly operationIds: readonly string[]; readonly cursor: string | null }>;
  /**
   * Many records in one step per partition, in the order that they are asked for, for a list; `revision`: what the asker has seen
   * of it, so that nothing is opened again that did not change. One that cannot be opened throws when somebody reads its snapshot.
   */
  summaries(
    asked: readonly { readonly operationId: string; readonly revision: string | null }[],
  ): Promise<readonly SummaryAnswer[]>;

  /** A process says that it counts as alive for so long, and which scopes it serves. Answers who is alive, itself included. */
  heartbeat(processId: string, ms: number, scopes?: readonly string[]): Promise<readonly LiveProcess[]>;
  /** `process:` scopes with waiting records in these partitions (default: all) whose process has not been heard of in time. */
  deadScopes(partitions?: readonly number[]): Promise<readonly string[]>;

  /** First come, first served: marks `taskId` at an endpoint as this operation's; answers whose it is. (F9) */
  ownTask(endpointId: string, taskId: string, operationId: string): Promise<string>;
  /**
   * A place in the server's rate (B8), shared by all executors. `waitMs` 0: send now; else ask again after it. In the lane
   * `next` the place is taken in any case: send after `waitMs`, whoever else waits (G4).
   */
  takePermit(key: string, qps: number, burst: number, lane?: 'next'): Promise<{ readonly waitMs: number }>;

  /**
   * Sets the switch of an adapter in every partition, one after the other: when this resolves every script sees it. Where
   * it rejects, some may: set it again.
   */
  setAdapter(adapter: string, state: AdapterState): Promise<void>;
  /** The switches that were ever set, by adapter; a partition that a change has not reached counts with its own state. */
  adapters(): Promise<Readonly<Record<string, readonly AdapterState[]>>>;
  /** The switch of an adapter as the partition of this operation has it. */
  adapterState(adapter: string, operationId: string): Promise<AdapterState>;

  /** The rollout rules of each partition, in order. They differ while a change is under way, or was interrupted. */
  rollouts(): Promise<readonly StoredRollout[]>;
  /** The rollout rules as the partition of this operation has them. */
  rolloutOf(operationId: string): Promise<StoredRollout>;
  /**
   * Sets the rollout rules in every partition, one after the other, the first one first: there it is decided between two
   * who change them at once. `replaced`: the version that the first partition had when the change was made up. When this
   * resolves with `set` every partition has these rules or newer ones; where it rejects, some may: set them again.
   * A text above 64 KiB is refused with a `RangeError`.
   */
  setRollout(
    text: string,
    replaced: string,
  ): Promise<
    { readonly kind: 'set'; readonly version: string } | { readonly kind: 'conflict'; readonly version: string }
  >;
  /**
   * The side of a call node; records the given one if there is none yet and `version` is the version of the partition's
   * rules. `side: null`: nothing is recorded.
   */
  takeSide(ask: {
    readonly operationId: string;
    readonly version: string;
    readonly side: Side | null;
    readonly why: string;
  }): Promise<SideAnswer>;

  /** What is known of the comparison of each shadow, in any order. Texts are opaque to the ledger. */
  comparisons(): AsyncIterable<{ readonly operationId: string; readonly text: string }>;
  comparison(operationId: string): Promise<string | null>;
  /** Replaces what is known, if it still is `seen` (`null`: nothing). Answers what stands there now. At most 64 KiB. */
  setComparison(operationId: string, seen: string | null, text: string): Promise<string>;
  /**
   * Raises the execution epoch in every partition, one after the other (R3): when this resolves all have it, and no step of
   * an older epoch creates or sends anything any more. No partition ever goes back. Where it rejects, some have it: raising
   * again completes it. `to`: this epoch (again and again: the same), default the newest of any partition plus one; an older
   * one than the ledger's is refused with a `RangeError`. Answers the epoch that all partitions have at least.
   */
  raiseEpoch(to?: number): Promise<number>;
  /** The execution epoch that an executor begins under: the newest of any partition. */
  epoch(): Promise<number>;
  /** The execution epoch of each partition. They differ while a raise is under way, or was interrupted. */
  epochs(): Promise<readonly number[]>;
  /** Switches creating on or off in every partition, one after the other, as `setAdapter` does (R3). */
  setCreation(allowed: boolean): Promise<void>;
  /** Whether operations may be created, by partition. */
  creation(): Promise<readonly boolean[]>;
  /** The same switches as the partition of this operation has them. */
  creationOf(operationId: string): Promise<{ readonly allowed: boolean; readonly epoch: number }>;

  /** Rows of all partitions, or of these, but those whose history went backwards. */
  leaseReady(
    consumer: string,
    limit: number,
    leaseMs: number,
    partitions?: readonly number[],
  ): Promise<readonly ReadyRow[]>;
  /** `false`: the lease was lost; somebody else will consume the row. */
  ackReady(row: ReadyRow, consumer: string): Promise<boolean>;
  /** What somebody who watches has to know of the whole ledger (G5, G6). Costs one step per partition, whatever it holds. */
  vitals(): Promise<LedgerVitals>;
  /**
   * Purges what the policy lets go: batch by batch, so that others have their turn. What is not over, what is parked and what
   * waits for its consumer stays, whatever its age.
   */
  purge(ask: PurgeAsk): Promise<PurgeReport>;
  /** The layout of the keys, and how far its migrations are. */
  layout(): Promise<LedgerLayout>;
  /** Brings the keys to the newest layout. May be stopped or killed anywhere, and called again. */
  migrate(options?: { readonly again?: boolean; readonly signal?: AbortSignal }): Promise<LedgerLayout>;
  /** What executors are to write may need a reader of this version (R3: readers first, writers after). */
  writes(): Promise<number>;
  /** What executors write may need a reader of this version from now on. Never goes back: answers the version that holds. */
  raiseWrites(version: number): Promise<number>;
  /** Walks receipts, ready rows, consumed marks and tombstones: one-to-one, or a finding. So is a history that went backwards. */
  audit(): Promise<readonly AuditFinding[]>;

  /** The history of each partition: whether one of them has gone backwards. */
  histories(): Promise<readonly PartitionHistory[]>;
  /**
   * Lets partitions go on after their history went backwards, in a new epoch: from then on their records are of an older
   * history, until each has been taken over. Also for one whose loss nobody could see. Answers what they show now.
   */
  acknowledgeRegress(by: string, partitions: readonly string[]): Promise<readonly PartitionHistory[]>;

  /**
   * A nudge that an operation changed, by whomever; `ready`: it was accepted, and a row waits for its consumer. Lossy, may be
   * spurious: a poll stays the truth. Returns the unsubscribe.
   */
  onChange(listener: (operationId: string, news: News) => void): () => void;
  /** What a kill, a power cut and a failover can each lose here, in words (design section 4). */
  durability(): Promise<{ readonly acceptable: boolean; readonly statement: string; readonly facts: Json }>;
  close(): Promise<void>;
}

/** What `onChange` names when the execution epoch was raised: no operation is called so. */
export const EPOCH_RAISED = 'epoch';

/** The store could not be asked, or did not answer: whether the step was taken is unknown. */
export class LedgerUnavailable extends Error {
  override readonly name: string = 'LedgerUnavailable';
}
/**
 * A partition shows an older history than one already seen: acknowledged steps were forgotten. Nothing was written, and nothing
 * will be until somebody has acknowledged it; the step can be sent again then.
 */
export class LedgerRegressed extends LedgerUnavailable {
  override readonly name = 'LedgerRegressed';
  constructor(
    readonly partition: string,
    readonly seen: HistoryMark,
    readonly shown: HistoryMark,
  ) {
    super(
      `the partition ${partition} of the ledger shows an older history (${words(shown)}) than one already seen (${words(seen)}): ` +
        'acknowledged steps were forgotten, by a failover or because an older copy was restored. Nothing is written there until ' +
        'somebody has looked: toolop history status, then toolop history acknowledge',
    );
  }
}
const words = ({ epoch, number }: HistoryMark): string => `epoch ${epoch}, step ${number}`;

/** The store holds something this version cannot read; it was left untouched. */
export class LedgerIncompatible extends Error {
  override readonly name = 'LedgerIncompatible';
}
