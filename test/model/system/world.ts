/**
 * One state of the closed system, as a row of small numbers: the record in the ledger, its lease, two executors, an answer
 * that comes after its waiting ended, requests whose senders are gone, the server, and how many faults may still happen.
 */
export type World = number[];

/** Columns of one executor. */
export const Drive = { stage: 0, record: 1, flags: 2, method: 3, answer: 4, channel: 5, size: 6 } as const;
/** `idle`: between two steps of an operation that it keeps. `asking`: its request is on the way. `answered`: the answer is. */
export const Stage = { none: 0, idle: 1, asking: 2, answered: 3 } as const;
/** `ofSecond`: on a late answer, whose it is; the others are of a drive or of both. */
export const Flag = { zombie: 1, sender: 2, staleCursor: 4, staleRound: 8, ofSecond: 16 } as const;
export const Channel = { closed: 0, open: 1, question: 2, broken: 3, result: 4 } as const;

export const At = {
  record: 0,
  /** 0: free, 1: the first executor's, 2: the second's. */
  lease: 1,
  drive: 2,
  late: 14,
  lateRecord: 15,
  lateAnswer: 16,
  lateFlags: 17,
  orphan: 18,
  orphan2: 19,
  task: 20,
  second: 21,
  known: 22,
  closedThrough: 23,
  cancelAsked: 24,
  reborn: 25,
  asked: 26,
  question: 27,
  answers: 28,
  receipts: 29,
  epochRaised: 30,
  sessionChanged: 31,
  repliedRound: 32,
  crashes: 33,
  losses: 34,
  duplicates: 35,
  times: 36,
  humans: 37,
  lies: 38,
  size: 39,
} as const;
/** Where the question is that the task waits for: nowhere, not delivered yet, on the channel of one of the two, lost with it. */
export const Question = { none: 0, waiting: 1, first: 2, second: 3, lost: 4 } as const;
export const Orphan = { none: 0, cancel: 1, answer: 2, submit: 10, lookup: 20, answered: 30, update: 40 } as const;

export const driveAt = (executor: number, column: number) => At.drive + executor * Drive.size + column;

export const encoded = (world: World): string => String.fromCharCode(...world);
export function decoded(text: string): World {
  const world: World = new Array(text.length);
  for (let index = 0; index < text.length; index++) world[index] = text.charCodeAt(index);
  return world;
}
