/** What every topic of the suite works with: a ledger with nothing in it, and a clock that only the test moves. */
import type { LedgerKind, OperationLedger, StoredRecord } from '../../../machines/operation-ledger.ts';
import type { TestFramework } from './framework.ts';
import { NAMESPACE, newOperation, type StepChange, step } from './steps.ts';

/** How the suite wants a ledger to be opened. What `toolop/persistence` has under the same name means the same there. */
export interface LedgerUnderTestOptions {
  /** Separates the call nodes of unrelated programs that share a store: any text of 1 to 200 characters. */
  readonly namespace: string;
  /** ms. The ledger takes every time from here: of leases, due times, permits and retention. */
  readonly now: () => number;
  /** `shadow`: opens, or makes, the ledger of this namespace's shadows, whose namespace is `shadowNamespace(namespace)`. */
  readonly kind?: LedgerKind;
  /** How many partitions a new namespace gets. Absent: an existing one keeps its number. */
  readonly partitions?: number;
  /** How long a step is sent again before its outcome is reported as unknown, ms. */
  readonly definiteWithinMs?: number;
  /** Largest snapshot that a step may write, bytes. Absent: your own limit, 64 KiB at least. */
  readonly maxSnapshotBytes?: number;
  /** Largest payload that a step may write, bytes. Absent: your own limit, 64 KiB at least. */
  readonly maxPayloadBytes?: number;
}

/** Your ledger, as the suite meets it. */
export interface LedgerUnderTest {
  /**
   * Opens a ledger on the one store of this run, and makes its namespace where there is none yet. Called several times in a test,
   * as by several processes; the suite closes what it opened.
   */
  open(options: LedgerUnderTestOptions): Promise<OperationLedger>;
  /** Empties the store, of every namespace. Called before each test, when no ledger is open. */
  clear(): Promise<void>;
  /** After the last test. */
  stop(): Promise<void>;
}

interface ClaimSeen {
  readonly claimed: readonly StoredRecord[];
  readonly nextDueAt: number | null;
  readonly epochOver?: number;
}

export interface Bench extends TestFramework {
  /** Of three partitions, and new for each test. */
  readonly ledger: OperationLedger;
  now(): number;
  /** Moves the clock, ms. */
  pass(ms: number): void;
  /** Another ledger on the same store, as of another process. */
  open(options?: Partial<LedgerUnderTestOptions>): Promise<OperationLedger>;
  /** A new operation, due since long ago; answers its id. */
  create(change?: StepChange, target?: OperationLedger): Promise<string>;
  /** Claims for a second what is due. */
  claim(owner: string, limit?: number, scopes?: readonly string[], executionEpoch?: number): Promise<ClaimSeen>;
}

const START = 1_800_000_000_000;

/** Registers what comes before and after each test of the surrounding `describe`. */
export function setUp(framework: TestFramework, start: () => Promise<LedgerUnderTest>): Bench {
  const { describe, it, beforeAll, afterAll, beforeEach, afterEach, expect } = framework;
  let under: LedgerUnderTest | undefined;
  let ledger: OperationLedger;
  let clock = START;
  const opened: OperationLedger[] = [];

  const open: Bench['open'] = async (options = {}) => {
    if (under === undefined) throw new Error('a ledger is opened in a test, not before');
    const another = await under.open({ namespace: NAMESPACE, now: () => clock, definiteWithinMs: 2000, ...options });
    opened.push(another);
    return another;
  };
  beforeAll(async () => {
    under = await start();
  });
  afterAll(async () => {
    await under?.stop();
  });
  beforeEach(async () => {
    await under?.clear();
    clock = START;
    ledger = await open({ partitions: 3 });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });

  return {
    ...{ describe, it, beforeAll, afterAll, beforeEach, afterEach, expect },
    get ledger() {
      return ledger;
    },
    now: () => clock,
    pass: (ms) => {
      clock += ms;
    },
    open,
    create: async (change = {}, target = ledger) => {
      const operationId = newOperation(target);
      expect(await target.create(step(operationId, change), null)).toMatchObject({ kind: 'created' });
      return operationId;
    },
    claim: async (owner, limit = 10, scopes = ['endpoint:e'], executionEpoch = 1) => {
      const ask = { owner, scopes, limit, leaseMs: 1000, executionEpoch };
      const { claimed, nextDueAt, epochOver } = await ledger.claimDue(ask);
      return { claimed, nextDueAt, ...(epochOver === undefined ? {} : { epochOver }) };
    },
  };
}

/** Asks again until it is so: news of a ledger may be late, or lost. */
export async function eventually(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const until = Date.now() + 10_000;
  while (!(await isSo())) {
    if (Date.now() > until) throw new Error(`waited in vain for this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
