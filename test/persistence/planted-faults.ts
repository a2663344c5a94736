/** Ledgers that are wrong in one place: a real one, of which one verb does something else. */
import type { OperationLedger, ReadyRow } from '../../machines/operation-ledger.ts';

type Verbs = Partial<OperationLedger>;

/** The ledger, with these verbs in place of its own. */
export function withVerbs(real: OperationLedger, verbs: Verbs): OperationLedger {
  return new Proxy(real, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in verbs ? verbs : target, name);
      return typeof value === 'function' ? value.bind(name in verbs ? verbs : target) : value;
    },
  });
}

export interface Fault {
  readonly name: string;
  /** The part of the suite that has to see it, and the tests there that have to fail. */
  readonly part: string;
  readonly seenBy: readonly string[];
  readonly plant: (real: OperationLedger) => Verbs;
}

/** Records that somebody else holds are handed out as well. */
const alsoHeld = (real: OperationLedger): Verbs => ({
  claimDue: async (ask) => {
    const claim = await real.claimDue(ask);
    const { operations } = await real.list({ limit: 100 });
    const records = await Promise.all(operations.map(({ operationId }) => real.load(operationId)));
    const held = records.flatMap((record) => (record?.lease && record.lease.owner !== ask.owner ? [record] : []));
    return { ...claim, claimed: [...claim.claimed, ...held] };
  },
});

/** The last receipt counts, not the first. */
const lastReceipt = (real: OperationLedger): Verbs => {
  const later = new Map<string, string>();
  return {
    acceptTerminal: async (step) => {
      const answer = await real.acceptTerminal(step);
      if (answer.kind !== 'duplicate') return answer;
      later.set(step.operationId, step.receipt);
      return { kind: 'accepted', revision: step.expectedRevision };
    },
    readReceipt: async (operationId) => later.get(operationId) ?? real.readReceipt(operationId),
  };
};

/** An acknowledgement is answered and not kept. */
const acknowledgedAgain = (real: OperationLedger): Verbs => {
  const acknowledged: ReadyRow[] = [];
  return {
    ackReady: async (row, consumer) => {
      const taken = await real.ackReady(row, consumer);
      if (taken) acknowledged.push(row);
      return taken;
    },
    leaseReady: async (...ask) => [...(await real.leaseReady(...ask)), ...acknowledged],
  };
};

let processes = 0;
/** Each process counts its own requests. */
const rateOfItsOwn = (real: OperationLedger): Verbs => {
  const own = `of process ${processes++}`;
  return { takePermit: (key, ...rate) => real.takePermit(`${key} ${own}`, ...rate) };
};

export const FAULTS: readonly Fault[] = [
  {
    name: 'a commit ignores the revision that is expected',
    part: 'commit',
    seenBy: ['compares the revision', 'lets one of eight win'],
    plant: (real) => ({
      commit: async (step) => {
        for (let expectedRevision = step.expectedRevision; ; ) {
          const answer = await real.commit({ ...step, expectedRevision });
          if (answer.kind !== 'conflict') return answer;
          expectedRevision = answer.revision;
        }
      },
    }),
  },
  {
    name: 'a history loses its last line',
    part: 'commit',
    seenBy: ['counts past nine in order'],
    plant: (real) => ({ readHistory: async (...ask) => (await real.readHistory(...ask)).slice(0, -1) }),
  },
  {
    name: 'a second creation is said to be the first',
    part: 'create',
    seenBy: ['lets one of eight creators win'],
    plant: (real) => ({
      create: async (...ask) => {
        const answer = await real.create(...ask);
        return answer.kind === 'exists' ? { ...answer, kind: 'created' } : answer;
      },
    }),
  },
  {
    name: 'a record is handed out that somebody else holds',
    part: 'leases',
    seenBy: ['hands a due record to one owner, with a new epoch for each'],
    plant: alsoHeld,
  },
  {
    name: 'a lease is renewed for whoever asks',
    part: 'leases',
    seenBy: ['takes a renewal or a release only for the very lease that it names'],
    plant: (real) => ({
      renewLease: async (operationId, _owner, _epoch, ms) => {
        const record = await real.load(operationId);
        return real.renewLease(operationId, record?.lease?.owner ?? '', record?.lease?.epoch ?? '', ms);
      },
    }),
  },
  {
    name: 'a second acceptance replaces the receipt',
    part: 'accept',
    seenBy: ['answers a second acceptance with the one receipt', 'makes one ready row when eight accept at once'],
    plant: lastReceipt,
  },
  {
    name: 'an acceptance does not compare the cancel generation',
    part: 'accept',
    seenBy: ['names cancelGeneration when it contradicts'],
    plant: (real) => ({
      acceptTerminal: (step) =>
        real.acceptTerminal({
          ...step,
          expected: { ...step.expected, cancelGeneration: step.fields.cancelGeneration },
        }),
    }),
  },
  {
    name: 'a row is handed out that was acknowledged',
    part: 'outbox',
    seenBy: ['leases a row to one consumer and forgets it when it is acknowledged'],
    plant: acknowledgedAgain,
  },
  {
    name: 'a step that sends is taken under an epoch that is over, and while creating is off',
    part: 'switches: creating',
    seenBy: ['R3: switched off, nothing is created and nothing is sent; everything else goes on'],
    plant: (real) => ({ commit: ({ creates: _, ...step }) => real.commit(step) }),
  },
  {
    name: 'a side is decided anew each time',
    part: 'sides',
    seenBy: ['R2: the side of first contact is recorded and stays, whatever is decided later'],
    plant: (real) => ({
      takeSide: async (ask) => {
        const answer = await real.takeSide(ask);
        return answer.kind === 'side' && ask.side !== null ? { ...answer, side: ask.side } : answer;
      },
    }),
  },
  {
    name: 'each process has the whole rate for itself',
    part: 'shared facts',
    seenBy: ['B8 G3: places asked for at once are as many as the rate has, over all who ask'],
    plant: rateOfItsOwn,
  },
  {
    name: 'a task id belongs to whoever names it last',
    part: 'shared facts',
    seenBy: ['gives a task id to the first operation that names it', 'F9: task ids taken at once have one owner each'],
    plant: () => ({ ownTask: async (_endpointId, _taskId, operationId) => operationId }),
  },
  {
    name: 'a record is purged before its time',
    part: 'retention',
    seenBy: ['B12: a consumed operation goes when it is old, and not before; its receipt stays'],
    plant: (real) => ({ purge: (ask) => real.purge({ ...ask, policy: { ...ask.policy, recordsMs: 0 } }) }),
  },
];
