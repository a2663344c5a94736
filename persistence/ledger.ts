import { canonicalJson, sha256 } from '../machines/digest.ts';
import type {
  AuditFinding,
  HistoryEntry,
  LedgerKind,
  OperationLedger,
  OperationSummary,
  ReadyRow,
  StoredRecord,
} from '../machines/operation-ledger.ts';
import { audit } from './audit.ts';
import { Comparisons } from './comparisons.ts';
import { Gathered } from './gathered.ts';
import { Histories } from './histories.ts';
import { BEGINNING, cursorOf, indexPage, parseCursor } from './index-pages.ts';
import { type PartitionKeys, partitionName } from './keys.ts';
import { Leases } from './leases.ts';
import { Migrations } from './migrations.ts';
import { historyOf, noteRefused } from './operation-history.ts';
import { Outbox } from './outbox.ts';
import { newestIn, operationCount, summariesOf } from './overview.ts';
import { unpack } from './packing.ts';
import { Processes } from './processes.ts';
import { payloadTag } from './record-form.ts';
import { loaded, milliseconds, optionalStoredText, optionalText, permitted, texts, toRecord } from './replies.ts';
import { Retention } from './retention.ts';
import { Rollouts } from './rollouts.ts';
import type { Durability } from './script-host.ts';
import { READY, type SizeLimits, Steps } from './steps.ts';
import type { Store } from './store.ts';
import { Switches } from './switches.ts';
import { Vitals } from './vitals.ts';

/** The ledger: one script per step, the same scripts on every host. */
export class ScriptLedger implements OperationLedger {
  readonly kind: LedgerKind;
  readonly maxPayloadBytes: number;
  readonly partitions: number;
  readonly #store: Store;
  readonly #steps: Steps;
  readonly #leases: Leases;
  readonly #outbox: Outbox;
  readonly #processes: Processes;
  readonly #switches: Switches;
  readonly #rollouts: Rollouts;
  readonly #comparisons: Comparisons;
  readonly #vitals: Vitals;
  readonly #retention: Retention;
  readonly #migrations: Migrations;
  readonly #histories: Histories;
  readonly #owners = new Gathered<readonly [taskId: string, operationId: string], string>();
  readonly #permits = new Gathered<undefined, number>();

  constructor(store: Store, kind: LedgerKind, limits: SizeLimits) {
    this.kind = kind;
    this.maxPayloadBytes = limits.payloadBytes;
    this.partitions = store.partitions.length;
    this.#store = store;
    this.#steps = new Steps(store, limits);
    this.#leases = new Leases(store);
    this.#outbox = new Outbox(store);
    this.#processes = new Processes(store);
    this.#switches = new Switches(store);
    this.#rollouts = new Rollouts(store);
    this.#comparisons = new Comparisons(store);
    this.#vitals = new Vitals(store);
    this.#retention = new Retention(store);
    this.#migrations = new Migrations(store);
    this.#histories = new Histories(store);
  }

  operationIdOf(...[node]: Parameters<OperationLedger['operationIdOf']>): string {
    if (node.namespace !== this.#store.namespace) {
      throw new RangeError(`this ledger serves the namespace "${this.#store.namespace}", not "${node.namespace}"`);
    }
    const digest = sha256(canonicalJson([node.namespace, node.principal, node.callNodeId]));
    const partition = Number.parseInt(digest.slice(0, 8), 16) % this.#store.partitions.length;
    return `${partitionName(partition)}.${digest}`;
  }

  partitionOf(operationId: string): number | null {
    return this.#store.partitionNumberOf(operationId);
  }

  now(): Promise<number> {
    return this.#store.read(milliseconds, { script: 'clock', keys: [this.#store.keys.meta], args: [] });
  }

  create(...[step, lease]: Parameters<OperationLedger['create']>): ReturnType<OperationLedger['create']> {
    return this.#steps.create(step, lease);
  }

  commit(...[step]: Parameters<OperationLedger['commit']>): ReturnType<OperationLedger['commit']> {
    return this.#steps.commit(step);
  }

  acceptTerminal(
    ...[step]: Parameters<OperationLedger['acceptTerminal']>
  ): ReturnType<OperationLedger['acceptTerminal']> {
    return this.#steps.acceptTerminal(step);
  }

  async load(operationId: string): Promise<StoredRecord | null> {
    const found = await this.find(operationId);
    return found.kind === 'record' ? found.record : null;
  }

  async find(operationId: string): ReturnType<OperationLedger['find']> {
    const partition = this.#store.partitionOf(operationId);
    const keys = [partition.operation(operationId), partition.tombstones];
    const found = await this.#store.read(loaded, { script: 'load', keys, args: [operationId] });
    switch (found.length) {
      case 0:
        return { kind: 'none' };
      case 1:
        return { kind: 'purged', tombstone: found[0] };
      default:
        return { kind: 'record', record: toRecord(operationId, found) };
    }
  }

  claimDue(...[ask]: Parameters<OperationLedger['claimDue']>): ReturnType<OperationLedger['claimDue']> {
    return this.#leases.claimDue(ask);
  }

  renewLease(...args: Parameters<OperationLedger['renewLease']>): ReturnType<OperationLedger['renewLease']> {
    return this.#leases.renew(...args);
  }

  releaseLease(...args: Parameters<OperationLedger['releaseLease']>): Promise<void> {
    return this.#leases.release(...args);
  }

  async readPayload(operationId: string, digest: string): Promise<string | null> {
    const partition = this.#store.partitionOf(operationId);
    const keys = [partition.operation(operationId), partition.payloads(operationId)];
    const args = [payloadTag(digest), digest];
    const stored = await this.#store.read(optionalStoredText, { script: 'payload', keys, args });
    return stored === null ? null : unpack(stored, operationId);
  }

  readReceipt(operationId: string): Promise<string | null> {
    return this.#readField(this.#store.partitionOf(operationId).receipts, operationId);
  }

  readHistory(...[operationId, options]: Parameters<OperationLedger['readHistory']>): Promise<readonly HistoryEntry[]> {
    return historyOf(this.#store, operationId, options?.refused === true);
  }

  noteRefused(...args: Parameters<OperationLedger['noteRefused']>): Promise<void> {
    return noteRefused(this.#store, ...args);
  }

  /** Partition by partition, oldest first in each. */
  async list(
    ask: Parameters<OperationLedger['list']>[0],
  ): Promise<{ readonly operations: readonly OperationSummary[]; readonly cursor: string | null }> {
    let [number, place] = ask.cursor === undefined ? [0, BEGINNING] : parseCursor(ask.cursor);
    const operations: OperationSummary[] = [];
    for (; number < this.#store.partitions.length; number += 1, place = BEGINNING) {
      const wanted = ask.limit - operations.length;
      if (wanted <= 0) return { operations, cursor: cursorOf(number, place) };
      const partition = this.#store.partitions[number] as PartitionKeys;
      const { operationIds, next } = await indexPage(this.#store, partition, place, wanted);
      for (const record of await Promise.all(operationIds.map((operationId) => this.load(operationId)))) {
        if (record) operations.push(record);
      }
      if (next !== null) return { operations, cursor: cursorOf(number, next) };
    }
    return { operations, cursor: null };
  }

  operationCount(): Promise<number> {
    return operationCount(this.#store);
  }

  newest(...[ask]: Parameters<OperationLedger['newest']>): ReturnType<OperationLedger['newest']> {
    return newestIn(this.#store, ask);
  }

  summaries(...[asked]: Parameters<OperationLedger['summaries']>): ReturnType<OperationLedger['summaries']> {
    return summariesOf(this.#store, asked);
  }

  heartbeat(...args: Parameters<OperationLedger['heartbeat']>): ReturnType<OperationLedger['heartbeat']> {
    return this.#processes.heartbeat(...args);
  }

  deadScopes(...args: Parameters<OperationLedger['deadScopes']>): ReturnType<OperationLedger['deadScopes']> {
    return this.#processes.deadScopes(...args);
  }

  ownTask(endpointId: string, taskId: string, operationId: string): Promise<string> {
    const keys = [this.#store.keys.tasks(endpointId)];
    return this.#owners.ask(endpointId, [taskId, operationId], (tasks) =>
      this.#store.write(texts, { script: 'own-task', keys, args: tasks.flat() }),
    );
  }

  async takePermit(
    ...[key, qps, burst, lane]: Parameters<OperationLedger['takePermit']>
  ): ReturnType<OperationLedger['takePermit']> {
    if (!(qps > 0) || !(burst >= 1)) throw new RangeError('a rate needs qps above 0 and a burst of at least 1');
    const rate = [String(Math.ceil(1_000_000 / qps)), String(Math.floor(burst))];
    const take = (count: number) =>
      this.#store.write(permitted, {
        script: 'permit',
        keys: [this.#store.keys.limiter(key)],
        args: [...rate, String(count), lane === 'next' ? '1' : ''],
      });
    if (lane === 'next') return { waitMs: (await take(1)).waitMs };
    const waitMs = await this.#permits.ask(`${key} ${rate.join(' ')}`, undefined, async (asks) => {
      const { given, waitMs } = await take(asks.length);
      return asks.map((_, index) => (index < given ? 0 : waitMs));
    });
    return { waitMs };
  }

  setAdapter(...args: Parameters<OperationLedger['setAdapter']>): Promise<void> {
    return this.#switches.setAdapter(...args);
  }

  adapters(): ReturnType<OperationLedger['adapters']> {
    return this.#switches.adapters();
  }

  adapterState(...args: Parameters<OperationLedger['adapterState']>): ReturnType<OperationLedger['adapterState']> {
    return this.#switches.adapterState(...args);
  }

  rollouts(): ReturnType<OperationLedger['rollouts']> {
    return this.#rollouts.all();
  }

  rolloutOf(operationId: string): ReturnType<OperationLedger['rolloutOf']> {
    return this.#rollouts.of(operationId);
  }

  setRollout(...args: Parameters<OperationLedger['setRollout']>): ReturnType<OperationLedger['setRollout']> {
    return this.#rollouts.set(...args);
  }

  takeSide(...[ask]: Parameters<OperationLedger['takeSide']>): ReturnType<OperationLedger['takeSide']> {
    return this.#rollouts.takeSide(ask);
  }

  comparisons(): ReturnType<OperationLedger['comparisons']> {
    return this.#comparisons.all();
  }

  comparison(operationId: string): Promise<string | null> {
    return this.#comparisons.of(operationId);
  }

  setComparison(...args: Parameters<OperationLedger['setComparison']>): Promise<string> {
    return this.#comparisons.set(...args);
  }

  raiseEpoch(...args: Parameters<OperationLedger['raiseEpoch']>): Promise<number> {
    return this.#switches.raiseEpoch(...args);
  }

  epoch(): Promise<number> {
    return this.#switches.epoch();
  }

  epochs(): Promise<readonly number[]> {
    return this.#switches.epochs();
  }

  setCreation(allowed: boolean): Promise<void> {
    return this.#switches.setCreation(allowed);
  }

  creation(): Promise<readonly boolean[]> {
    return this.#switches.creation();
  }

  creationOf(...args: Parameters<OperationLedger['creationOf']>): ReturnType<OperationLedger['creationOf']> {
    return this.#switches.creationOf(...args);
  }

  leaseReady(...args: Parameters<OperationLedger['leaseReady']>): Promise<readonly ReadyRow[]> {
    return this.#outbox.lease(...args);
  }

  ackReady(row: ReadyRow, consumer: string): Promise<boolean> {
    return this.#outbox.ack(row, consumer);
  }

  vitals(): ReturnType<OperationLedger['vitals']> {
    return this.#vitals.read();
  }

  purge(...[ask]: Parameters<OperationLedger['purge']>): ReturnType<OperationLedger['purge']> {
    return this.#retention.purge(ask);
  }

  layout(): ReturnType<OperationLedger['layout']> {
    return this.#migrations.status();
  }

  migrate(...[options = {}]: Parameters<OperationLedger['migrate']>): ReturnType<OperationLedger['migrate']> {
    return this.#migrations.migrate(options);
  }

  writes(): Promise<number> {
    return this.#migrations.writes();
  }

  raiseWrites(version: number): Promise<number> {
    return this.#migrations.raiseWrites(version);
  }

  async audit(): Promise<readonly AuditFinding[]> {
    const forgotten = (await this.histories()).filter(({ regressed }) => regressed);
    return [
      ...forgotten.map(({ partition, shown, seen }) => ({
        operationId: partition,
        problem: `the partition shows step ${shown.number} of epoch ${shown.epoch}, and step ${seen.number} of epoch ${seen.epoch} was seen`,
      })),
      ...(await audit(this.#store, this.kind)),
    ];
  }

  histories(): ReturnType<OperationLedger['histories']> {
    return this.#histories.all();
  }

  acknowledgeRegress(
    ...args: Parameters<OperationLedger['acknowledgeRegress']>
  ): ReturnType<OperationLedger['acknowledgeRegress']> {
    return this.#histories.acknowledge(...args);
  }

  onChange(...[listener]: Parameters<OperationLedger['onChange']>): () => void {
    return this.#store.subscribe((nudge) =>
      nudge.endsWith(READY) ? listener(nudge.slice(0, -READY.length), 'ready') : listener(nudge, 'step'),
    );
  }

  durability(): Promise<Durability> {
    return this.#store.durability();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #readField(key: string, field: string): Promise<string | null> {
    return this.#store.read(optionalText, { script: 'read', keys: [key], args: [field] });
  }
}
