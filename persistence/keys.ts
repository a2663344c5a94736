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
  readonly consumers: string;
  readonly consumed: string;
  readonly scopes: string;
  readonly switches: string;
  due(scope: string): string;
  operation(operationId: string): string;
  history(operationId: string): string;
  payloads(operationId: string): string;
}

/** The version of everything that stands under the keys. */
export const SCHEMA = '1';

export class Keys {
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = encodeURIComponent(namespace);
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

  tasks(endpointId: string): string {
    return this.#key(`t:${encodeURIComponent(endpointId)}`, 'tasks');
  }

  limiter(key: string): string {
    return this.#key(`q:${encodeURIComponent(key)}`, 'limiter');
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
      consumers: key('consumers'),
      consumed: key('consumed'),
      scopes: key('scopes'),
      switches: key('switches'),
      due: (scope) => key(`due:${scope}`),
      operation: (operationId) => key(`op:${operationId}`),
      history: (operationId) => key(`hist:${operationId}`),
      payloads: (operationId) => key(`pay:${operationId}`),
    };
  }

  #key(tag: string, name: string): string {
    return `toolop:${SCHEMA}:{${this.#namespace}/${tag}}:${name}`;
  }
}

export function partitionName(partition: number): string {
  return `p${String(partition).padStart(2, '0')}`;
}

/** The execution epoch of the fleet among the switches of a partition (R3); missing: 1. */
export const EPOCH_SWITCH = 'epoch';
/** Whether operations may be created (R3): `on` or `off`; missing: `on`. */
export const CREATION_SWITCH = 'creation';
/** The name of an adapter's switch among those of a partition (R4). */
export const adapterSwitch = (adapter: string): string => `adapter:${adapter}`;
