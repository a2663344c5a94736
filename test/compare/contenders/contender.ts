/** One client library, as a caller uses it: a process that makes one call. */
import { isOutcome, type Outcome, type Protocol, type Told } from '../history.ts';
import type { Need, Offers } from '../script.ts';

export const CONTENDERS = ['toolop', 'ext-tasks v1', 'ext-tasks v2', 'callToolStream', 'google-gax'] as const;
export type ContenderName = (typeof CONTENDERS)[number];

/** Where the call goes. */
export interface Scene {
  readonly protocol: Protocol;
  readonly url: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly offers: Offers;
  /** The call instance: the same one for everything that the caller does about this call. */
  readonly callNodeId: string;
  /** How long a single request may take, ms. */
  readonly requestTimeoutMs: number;
  /** How long the caller wants to wait for the operation at most, ms, where a contender can be told. */
  readonly budgetMs?: number;
  /** Asks the human, who always answers. */
  ask(): Promise<string>;
  /** An outcome reached the next step. */
  handedOver(outcome: Outcome): void;
}

/** The call, as the caller holds it. */
export interface Waiting {
  readonly told: Promise<Told>;
  cancel(): Promise<void>;
  /** Stops waiting for good, as the documentation shows it. */
  leave(): Promise<void>;
}

/** One process of the caller. */
export interface Client {
  call(): Waiting;
  /** Takes up the call that an earlier process made, from what that one kept. */
  comeBack(): Promise<Waiting>;
  close(): Promise<void>;
}

export interface Contender {
  readonly name: ContenderName;
  readonly version: string;
  readonly protocols: readonly Protocol[];
  readonly can: readonly Need[];
  /** How it is driven, and where that is more or less than its users have. */
  readonly notes: readonly string[];
  /** `memory`: what the caller's processes share, a disk or a database of theirs. */
  open(scene: Scene, memory: Map<string, unknown>): Promise<Client>;
  stop(): Promise<void>;
}

/** Where the caller goes on with what it was told: an outcome goes to the next step. */
export function goingOn(scene: Scene, told: Told): Told {
  if (isOutcome(told)) scene.handedOver(told);
  return told;
}
