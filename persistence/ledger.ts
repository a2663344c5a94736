import { canonicalJson, sha256 } from '../machines/digest.ts';
import type {
  AuditFinding,
  HistoryEntry,
  OperationLedger,
  OperationSummary,
  ReadyRow,
  StoredRecord,
} from '../machines/operation-ledger.ts';
import { audit } from './audit.ts';
import { Histories } from './histories.ts';
import { partitionName } from './keys.ts';
import { Leases } from './leases.ts';
import { Outbox } from './outbox.ts';
import { Processes } from './processes.ts';
import { historyEntry, loaded, milliseconds, optionalText, pairs, text, texts, toRecord } from './replies.ts';
import type { Durability } from './script-host.ts';
import { type SizeLimits, Steps } from './steps.ts';
import type { Store } from './store.ts';
import { Switches } from './switches.ts';

/** The ledger: one script per step, the same scripts on every host. */
export class ScriptLedger implements OperationLedger {
  readonly maxPayloadBytes: number;
  readonly #store: Store;
  readonly #steps: Steps;
  readonly #leases: Leases;
  readonly #outbox: Outbox;
  readonly #processes: Processes;
  readonly #switches: Switches;
  readonly #histories: Histories;

  constructor(store: Store, limits: SizeLimits) {
    this.maxPayloadBytes = limits.payloadBytes;
    this.#store = store;
    this.#steps = new Steps(store, limits);
    this.#leases = new Leases(store);
    this.#outbox = new Outbox(store);
    this.#processes = new Processes(store);
    this.#switches = new Switches(store);
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
    const keys = [this.#store.partitionOf(operationId).operation(operationId)];
    const fields = await this.#store.read(loaded, { script: 'load', keys, args: [] });
    return fields.length === 0 ? null : toRecord(operationId, fields);
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

  readPayload(operationId: string, digest: string): Promise<string | null> {
    return this.#readField(this.#store.partitionOf(operationId).payloads(operationId), digest);
  }

  readReceipt(operationId: string): Promise<string | null> {
    return this.#readField(this.#store.partitionOf(operationId).receipts, operationId);
  }

  async readHistory(operationId: string): Promise<readonly HistoryEntry[]> {
    const keys = [this.#store.partitionOf(operationId).history(operationId)];
    const entries = pairs(await this.#store.read(texts, { script: 'entries', keys, args: [] }));
    return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, entry]) => historyEntry.parse(JSON.parse(entry)));
  }

  /** Partition by partition, oldest first in each. */
  async list(
    ask: Parameters<OperationLedger['list']>[0],
  ): Promise<{ readonly operations: readonly OperationSummary[]; readonly cursor: string | null }> {
    let [partition, offset] = parseCursor(ask.cursor);
    const operations: OperationSummary[] = [];
    for (; partition < this.#store.partitions.length; partition += 1, offset = 0) {
      const wanted = ask.limit - operations.length;
      if (wanted <= 0) return { operations, cursor: `${partition}:${offset}` };
      const keys = [this.#store.partitions[partition]?.operations ?? ''];
      const args = [String(offset), String(wanted)];
      const page = await this.#store.read(texts, { script: 'list', keys, args });
      for (const record of await Promise.all(page.map((operationId) => this.load(operationId)))) {
        if (record) operations.push(summaryOf(record));
      }
      if (page.length === wanted) return { operations, cursor: `${partition}:${offset + wanted}` };
    }
    return { operations, cursor: null };
  }

  heartbeat(processId: string, ms: number): Promise<void> {
    return this.#processes.heartbeat(processId, ms);
  }

  deadScopes(): Promise<readonly string[]> {
    return this.#processes.deadScopes();
  }

  ownTask(endpointId: string, taskId: string, operationId: string): Promise<string> {
    const keys = [this.#store.keys.tasks(endpointId)];
    return this.#store.write(text, { script: 'own-task', keys, args: [taskId, operationId] });
  }

  async takePermit(
    ...[key, qps, burst, lane]: Parameters<OperationLedger['takePermit']>
  ): ReturnType<OperationLedger['takePermit']> {
    if (!(qps > 0) || !(burst >= 1)) throw new RangeError('a rate needs qps above 0 and a burst of at least 1');
    const args = [String(Math.ceil(1_000_000 / qps)), String(Math.floor(burst)), lane === 'next' ? '1' : ''];
    const keys = [this.#store.keys.limiter(key)];
    return { waitMs: await this.#store.write(milliseconds, { script: 'permit', keys, args }) };
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

  leaseReady(consumer: string, limit: number, leaseMs: number): Promise<readonly ReadyRow[]> {
    return this.#outbox.lease(consumer, limit, leaseMs);
  }

  ackReady(row: ReadyRow, consumer: string): Promise<boolean> {
    return this.#outbox.ack(row, consumer);
  }

  async audit(): Promise<readonly AuditFinding[]> {
    const forgotten = (await this.histories()).filter(({ regressed }) => regressed);
    return [
      ...forgotten.map(({ partition, shown, seen }) => ({
        operationId: partition,
        problem: `the partition shows step ${shown.number} of epoch ${shown.epoch}, and step ${seen.number} of epoch ${seen.epoch} was seen`,
      })),
      ...(await audit(this.#store)),
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

  onChange(listener: (operationId: string) => void): () => void {
    return this.#store.subscribe(listener);
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

function summaryOf({ operationId, state, revision, dueAt, snapshot }: StoredRecord): OperationSummary {
  return { operationId, state, revision, dueAt, snapshot };
}

function parseCursor(cursor: string | undefined): [partition: number, offset: number] {
  if (cursor === undefined) return [0, 0];
  const match = /^(\d+):(\d+)$/.exec(cursor);
  if (!match) throw new RangeError(`"${cursor}" is no cursor of this list`);
  return [Number(match[1]), Number(match[2])];
}
