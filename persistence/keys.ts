/**
 * Every key of the ledger. All keys of one partition carry the same hash tag, so each step stays on one slot of a
 * cluster; what is not part of a step (limiters, task owners, processes) has tags of its own.
 */
export interface PartitionKeys {
  /** As it stands in the ids of its operations: `p03`. */
  readonly name: string;
  /** How far its history has come. */
  readonly mark: string;
  readonly operations: string;
  readonly receipts: string;
  readonly readyRows: string;
  readonly readyQueue: string;
  readonly readyLeases: string;
  /** Rows that were leased and are not acknowledged, by when they became ready. */
  readonly delivering: string;
  /** Operations whose outcome is unknown and looked for, by since when. */
  readonly unknown: string;
  /** The same, of those that wait for a human. */
  readonly parked: string;
  readonly consumers: string;
  readonly consumed: string;
  readonly scopes: string;
  readonly switches: string;
  readonly sides: string;
  readonly comparisons: string;
  /** Accepted and consumed, by when: their records age from then. */
  readonly settled: string;
  /** Whose record was purged and whose receipt is there, by the same time. */
  readonly kept: string;
  /** Of whom a tombstone is left, by the same time. */
  readonly gone: string;
  /** What is left of purged records, by operation. */
  readonly tombstones: string;
  /** How far migrations of this partition got. */
  readonly migration: string;
  readonly claims: string;
  readonly claimEnds: string;
  /** What the key of every operation begins with. */
  readonly operationPrefix: string;
  due(scope: string): string;
  operation(operationId: string): string;
  history(operationId: string): string;
  payloads(operationId: string): string;
}

/** The version of everything that stands under the keys. */
export const SCHEMA = '1';
/** The newest layout of the keys that this release knows: migrations lead from one to the next. */
export const LAYOUT = 3;
/** Since this layout records are packed; who does not know it must not find one. */
export const PACKED_LAYOUT = 3;

export class Keys {
  readonly #namespace: string;
  readonly #servers: string;

  /** `servers`: the namespace that keeps what is known of servers (rates, task ids), for one that shares it. */
  constructor(namespace: string, servers = namespace) {
    this.#namespace = encodeURIComponent(namespace);
    this.#servers = encodeURIComponent(servers);
  }

  /** Without a schema version in its name: an older program must find what a newer one wrote. */
  get meta(): string {
    return `toolop:{${this.#namespace}/meta}`;
  }

  get channel(): string {
    return `toolop:${SCHEMA}:${this.#namespace}:changes`;
  }

  get processes(): string {
    return this.#key('processes', 'alive');
  }

  /** On the slot of `processes`. */
  get served(): string {
    return this.#key('processes', 'served');
  }

  tasks(endpointId: string): string {
    return this.#key(`t:${encodeURIComponent(endpointId)}`, 'tasks', this.#servers);
  }

  limiter(key: string): string {
    return this.#key(`q:${encodeURIComponent(key)}`, 'limiter', this.#servers);
  }

  partition(partition: number): PartitionKeys {
    const key = (name: string): string => this.#key(partitionName(partition), name);
    return {
      name: partitionName(partition),
      mark: key('mark'),
      operations: key('ops'),
      receipts: key('rc'),
      readyRows: key('ready'),
      readyQueue: key('readyq'),
      readyLeases: key('readyl'),
      delivering: key('delivering'),
      unknown: key('unknown'),
      parked: key('parked'),
      consumers: key('consumers'),
      consumed: key('consumed'),
      scopes: key('scopes'),
      switches: key('switches'),
      sides: key('sides'),
      comparisons: key('compared'),
      settled: key('settled'),
      kept: key('kept'),
      gone: key('gone'),
      tombstones: key('tombs'),
      migration: key('migration'),
      claims: key('claims'),
      claimEnds: key('claim-ends'),
      operationPrefix: key('op:'),
      due: (scope) => key(`due:${scope}`),
      operation: (operationId) => key(`op:${operationId}`),
      history: (operationId) => key(`hist:${operationId}`),
      payloads: (operationId) => key(`pay:${operationId}`),
    };
  }

  #key(tag: string, name: string, namespace = this.#namespace): string {
    return `toolop:${SCHEMA}:{${namespace}/${tag}}:${name}`;
  }
}

export function partitionName(partition: number): string {
  return `p${String(partition).padStart(2, '0')}`;
}

/** Which kind of ledger a partition belongs to: `shadow`, or nothing (R1). */
export const KIND_SWITCH = 'kind';
/** The execution epoch of the fleet among the switches of a partition (R3); missing: 1. */
export const EPOCH_SWITCH = 'epoch';
/** Whether operations may be created (R3): `on` or `off`; missing: `on`. */
export const CREATION_SWITCH = 'creation';
/** The name of an adapter's switch among those of a partition (R4). */
export const adapterSwitch = (adapter: string): string => `adapter:${adapter}`;
