/**
 * The one interface between the executor and its store. Every method is one atomic step on one partition.
 * A promise that rejects with `LedgerUnavailable` says nothing about the step: send the same command (same
 * `commandId`) again until the answer is definite. All times are ms of the ledger's own clock.
 */
import type { Json } from './digest.ts';
import type { Uncertainty } from './tool-operation/uncertainty.ts';

/** The fields that `acceptTerminal` compares (brief B12), as strings; an absent value is the empty string. */
export interface AcceptFields {
  /** The `callNodeId` of the call. */
  readonly callNode: string;
  /** SHA-256 of the canonical JSON of tool and arguments, hex. */
  readonly requestDigest: string;
  /** Empty where the call never became a task. */
  readonly taskId: string;
  /** Digest of the tool's descriptor, as pinned when the call was negotiated. */
  readonly toolVersion: string;
  /** Of the record (R3), in decimal. */
  readonly executionEpoch: string;
  /** `0` until somebody asks for a cancel (B9), in decimal. */
  readonly cancelGeneration: string;
  /** `completed`, `failed`, `cancelled`, `not_submitted` or `given_up`; empty before one is observed. */
  readonly terminalState: string;
  /** SHA-256 of the result in hand, hex; empty where there is none. */
  readonly resultDigest: string;
}

/** A record as the ledger stores it. `snapshot` is an opaque JSON text: the ledger never parses it. */
export interface StoredRecord {
  /** `p<NN>.<sha256>`: names its partition. */
  readonly operationId: string;
  /** Counts up by one with each commit; a decimal string. */
  readonly revision: string;
  /** The chart's state and its context, as the last step wrote them. */
  readonly snapshot: string;
  /** Path of the state, e.g. `WORKING.polling`: what a list or an index needs, outside of the snapshot. */
  readonly state: string;
  /** Who can serve it: `endpoint:<id>` or `process:<id>`. Never changes. */
  readonly scope: string;
  /** When what it owes is due, ms; `null`: nothing is owed. */
  readonly dueAt: number | null;
  /** `null`: nobody took it. One whose `until` has passed holds nobody off. */
  readonly lease: Lease | null;
}

/** Who runs what an operation owes. Whose facts count is decided by their claims, not by this (design section 4). */
export interface Lease {
  /** The executor, by the name that it claims under. */
  readonly owner: string;
  /** Raised by each claim by another owner. */
  readonly epoch: string;
  /** From when on others may claim it, ms. The owner renews it while an effect is in flight. */
  readonly until: number;
}

/** A payload that is written with a step, under its digest. */
export interface PayloadWrite {
  /** What it is read by again: SHA-256 of the text, hex, but for the request (its digest, B3) and the trace of its creation. */
  readonly digest: string;
  /** Opaque to the ledger. Above `maxPayloadBytes` the step is refused with a `RangeError`. */
  readonly text: string;
}

/** One line of an operation's history. */
export interface HistoryEntry {
  /** ms of ledger time. */
  readonly at: number;
  /** Type of the event, e.g. `poll.status`; `created` for an operation's first line. */
  readonly event: string;
  /** Path of the state before it; empty where there was none. */
  readonly from: string;
  /** Path of the state after it. */
  readonly to: string;
  /** Who wrote the line. */
  readonly executor: string;
  /** The reason that came with the event, or the status that it told. */
  readonly note?: string;
  /** A refused fact: the guards that said no. Nothing changed. */
  readonly refused?: readonly string[];
}

/** What a step writes: the next snapshot and everything that must change with it. */
export interface Step {
  /** By `operationIdOf`. */
  readonly operationId: string;
  /** Unique per intent, the same for every repetition of it. */
  readonly commandId: string;
  /** The whole of the next record, as JSON text. Too large a one (`maxSnapshotBytes`) is refused with a `RangeError`. */
  readonly snapshot: string;
  /** Path of the state, e.g. `WORKING.polling`. */
  readonly state: string;
  /** What the acceptance of this record will be compared with (B12). */
  readonly fields: AcceptFields;
  /** Who can serve the record: `endpoint:<id>` or `process:<id>`. */
  readonly scope: string;
  /** `null`: nothing is owed, the record leaves the due index. */
  readonly dueAt: number | null;
  /** In the ledger together with the step, or not at all. */
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
  /** In the place of what a step that creates would answer. */
  readonly kind: 'switchedOff';
  /** As the operation's partition has it. */
  readonly state: AdapterState;
}

/** R3: the ledger's execution epoch is newer than the one of the step, or of the asker: nothing was written. */
export interface EpochOver {
  /** In the place of what a step that creates would answer. */
  readonly kind: 'epochOver';
  /** The epoch of the ledger. */
  readonly epoch: number;
}
/** R3: creating operations is switched off for the fleet: nothing was written. */
export interface CreationOff {
  /** In the place of what a step that creates would answer. */
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
  /** JSON of the rules (`rollout.v1`); empty: none were ever set. */
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
  /** Over all partitions. */
  readonly count: number;
  /** How long the outcome has been unknown that has been so longest (G5: 15 minutes). */
  readonly oldestAgeMs: number;
}
/** Outcomes that nobody knows (B13, G5), and how long the oldest receipt has waited for its consumer. */
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
  /** When the record went. */
  readonly purgedAt: number;
  /** Tells a repetition of the call from another request under its call node. */
  readonly requestDigest: string;
  /** What B12 compared: `completed`, `failed`, `cancelled`, `not_submitted` or `given_up`. */
  readonly terminalState: string;
  /** SHA-256 of the receipt's text, hex: the audit compares with it. */
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
  /** Tombstones: while one is there, its call is not made again. */
  readonly tombstonesMs: number | null;
}
/** One run over the whole ledger. */
export interface PurgeAsk {
  /** Not checked here: the function `purge` does that. */
  readonly policy: RetentionPolicy;
  /** Purges nothing: says what would go. */
  readonly dryRun?: boolean;
  /** Stops between two batches; a later call goes on. */
  readonly signal?: AbortSignal;
}
/** What a purge threw away, by stage: a record leaves a tombstone, then its receipt goes, then the tombstone. */
export interface PurgeReport {
  /** `true`: nothing went, the numbers say what would. */
  readonly dryRun: boolean;
  /** `bytes`: of names and values. What a store needs for them is more. */
  readonly records: { readonly count: number; readonly bytes: number };
  /** With their consumed marks. */
  readonly receipts: { readonly count: number; readonly bytes: number };
  /** Nothing is left of these calls. */
  readonly tombstones: { readonly count: number; readonly bytes: number };
  /** Old enough and kept all the same, because something is wrong with them: see the audit. */
  readonly staying: { readonly open: number; readonly unconsumed: number; readonly unreceipted: number };
  /** Receipts that wait for their consumer: nothing of these operations goes. */
  readonly outbox: number;
  /** `false`: it was stopped. */
  readonly complete: boolean;
}

/** A step from one layout of the keys to the next, partition by partition. */
export interface MigrationProgress {
  /** The layout that it leads to. */
  readonly to: number;
  /** What it does, in words for an operator. */
  readonly what: string;
  /** Executors of the release before may run meanwhile, and after it. */
  readonly safeWithOlder: boolean;
  /** In their order. */
  readonly partitions: readonly ('waiting' | 'under way' | 'done')[];
}
/** Where a namespace is on the way to the newest layout of its keys, and in which form its records are written. */
export interface LedgerLayout {
  /** Reached by every partition. */
  readonly layout: number;
  /** The newest that this release knows. */
  readonly newest: number;
  /** What executors write may need a reader of this version, and no newer one. */
  readonly writes: number;
  /** All that this release knows, in order. */
  readonly migrations: readonly MigrationProgress[];
}

/** What became of the first step of a call node (B4); only `created` wrote something. */
export type CreateAnswer =
  | { readonly kind: 'created'; readonly record: StoredRecord }
  /** The call node has a record already; compare its request digest before using it. */
  | { readonly kind: 'exists'; readonly record: StoredRecord }
  /** The call node took another side at first contact (R2): nothing was written. */
  | { readonly kind: 'otherSide'; readonly side: Side }
  /** The call node had a record, which was purged: its call was made. Nothing was written. */
  | { readonly kind: 'purged'; readonly tombstone: Tombstone }
  | NotCreated;

/** What became of a step. `conflict`: the record is at this revision by now; load it and apply the event again. */
export type CommitAnswer =
  | { readonly kind: 'committed'; readonly revision: string }
  | { readonly kind: 'conflict'; readonly revision: string }
  | { readonly kind: 'missing' }
  /** The record is of an older history of its partition, which was forgotten in part: what followed it is unknown. */
  | { readonly kind: 'olderHistory' }
  | NotCreated;

/** What became of an acceptance (B12); only `accepted` wrote something. `conflict`: as for a commit. */
export type AcceptAnswer =
  | { readonly kind: 'accepted'; readonly revision: string }
  /** The call node has its one receipt already. */
  | { readonly kind: 'duplicate'; readonly receipt: string }
  /** The name of the field of B12 that the stored record contradicts. */
  | { readonly kind: 'mismatch'; readonly field: keyof AcceptFields }
  | { readonly kind: 'conflict'; readonly revision: string }
  | { readonly kind: 'missing' };

/** What an executor got to do, and when it should ask again. */
export interface Claim {
  /** Leased to the asker from now on. */
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

/** A process whose last sign of life still counts. */
export interface LiveProcess {
  /** By the name that it gave with its sign; its own scope is `process:<id>`. */
  readonly processId: string;
  /** Scopes that it serves besides its own. */
  readonly scopes: readonly string[];
}

/** What a nudge is about. */
export type News = 'step' | 'ready';

/** An accepted outcome on its way to its consumer, leased. A call node has one at most (B12). */
export interface ReadyRow {
  /** The key of the row, too. */
  readonly operationId: string;
  /** The terminal receipt, as JSON text. */
  readonly receipt: string;
  /** Proves the consumer's lease when it acknowledges. */
  readonly token: string;
}

/** Something that is not one-to-one, or a history that went backwards. */
export interface AuditFinding {
  /** Or the partition, where it is all of it. */
  readonly operationId: string;
  /** In words. */
  readonly problem: string;
}

/** How far a history has come: the number rises with each step that writes, the epoch with each acknowledged regress. */
export interface HistoryMark {
  /** Of the history; the execution epoch (R3) is another number. */
  readonly epoch: number;
  /** Begins at 0. */
  readonly number: number;
}

/** Whether a partition still has what it acknowledged. */
export interface PartitionHistory {
  /** `p03`, as in the ids of its operations. */
  readonly partition: string;
  /** What it says of itself now. */
  readonly shown: HistoryMark;
  /** The highest mark that was seen, by whoever asked the partition or is remembered here. */
  readonly seen: HistoryMark;
  /** `shown` is older than `seen`: acknowledged steps were forgotten, and nothing is written there any more. */
  readonly regressed: boolean;
  /** The last time that somebody acknowledged a regress of it. */
  readonly acknowledged: { readonly by: string; readonly at: number } | null;
}

/** A record in a list. */
export interface OperationSummary {
  /** `p<NN>.<sha256>`. */
  readonly operationId: string;
  /** Path of the state, e.g. `WORKING.polling`. */
  readonly state: string;
  /** The one that was read. */
  readonly revision: string;
  /** ms; `null`: nothing is owed. */
  readonly dueAt: number | null;
  /** The whole record, as `load` gives it. */
  readonly snapshot: string;
}

/** What a list is told of an operation. */
export type SummaryAnswer =
  /** It is not at the revision that the asker knows. */
  | { readonly kind: 'summary'; readonly summary: OperationSummary }
  /** It is, and due then. */
  | { readonly kind: 'known'; readonly dueAt: number | null }
  /** There is no record of it. */
  | { readonly kind: 'none' };

/**
 * The operations of a namespace, with their receipts and ready rows (design section 4). Whatever reads or writes an operation
 * refuses, with a `RangeError`, an id that names none of its partitions.
 */
export interface OperationLedger {
  /** As it was made. */
  readonly kind: LedgerKind;
  /** Largest payload that a step may write, bytes. */
  readonly maxPayloadBytes: number;
  /** Over how many partitions the operations are spread: fixed for a namespace, as is the one of an operation. */
  readonly partitions: number;
  /** Where an operation of this call node stands: deterministic, carries its partition. Shape: `p<NN>.<sha256>`. */
  operationIdOf(node: { readonly namespace: string; readonly principal: string; readonly callNodeId: string }): string;
  /** The partition of an operation, 0, 1, ...; `null`: this is no operation of this ledger. */
  partitionOf(operationId: string): number | null;
  /** ms of its own clock: all times in it are meant by that one. */
  now(): Promise<number>;

  /** Creates the record of a call node, or answers with the one that is there. `lease`: the creator starts as its owner. */
  create(step: Step, lease: { readonly owner: string; readonly ms: number } | null): Promise<CreateAnswer>;
  /** `null`: there is no record, or none any more. */
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

  /** What a step wrote under this digest; `null`: nothing is there, or it was purged. */
  readPayload(operationId: string, digest: string): Promise<string | null>;
  /** The terminal receipt as JSON text, also of a purged record; `null`: none was accepted, or it was purged too. */
  readReceipt(operationId: string): Promise<string | null>;
  /** The steps in order; `refused`: with the facts that were refused between them. */
  readHistory(operationId: string, options?: { readonly refused?: boolean }): Promise<readonly HistoryEntry[]>;
  /**
   * Writes down a fact that was refused after `revision`: nothing else changes, and nobody is told. What an operation has no room
   * for is left out.
   */
  noteRefused(operationId: string, revision: string, entry: HistoryEntry): Promise<void>;
  /**
   * Up to `limit` operations after `cursor`; with the `cursor` of the answer it goes on, `null`: there are no more. Refuses a text
   * that is no cursor with a `RangeError`.
   */
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
  /** Of one shadow; `null`: nothing is known. */
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
  /** What is being sent again then ends with `LedgerUnavailable`; nothing is taken back. */
  close(): Promise<void>;
}

/** What `onChange` names when the execution epoch was raised: no operation is called so. */
export const EPOCH_RAISED = 'epoch';

/** The store could not be asked, or did not answer: whether the step was taken is unknown. */
export class LedgerUnavailable extends Error {
  /** For logs, and for code that cannot use `instanceof`; a subclass has its own. */
  override readonly name: string = 'LedgerUnavailable';
}
/**
 * A partition shows an older history than one already seen: acknowledged steps were forgotten. Nothing was written, and nothing
 * will be until somebody has acknowledged it; the step can be sent again then.
 */
export class LedgerRegressed extends LedgerUnavailable {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'LedgerRegressed';
  constructor(
    /** `p03`, as in the ids of its operations. */
    readonly partition: string,
    /** The newest mark that was seen of it. */
    readonly seen: HistoryMark,
    /** The older one that it has now. */
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
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'LedgerIncompatible';
}
