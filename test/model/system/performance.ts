/**
 * Performs what a state owes by the production code of the executor (effects, held question, facts) against a session of
 * which the model decides every answer. The outcome is a function of record, situation and answer, so it is kept.
 */
import type { Clock } from '../../../machines/actor/clock.ts';
import type { OperationDrive } from '../../../machines/actor/drive.ts';
import { unreachable } from '../../../machines/actor/drive.ts';
import type { RunEffect } from '../../../machines/actor/effects/index.ts';
import { stampOf } from '../../../machines/actor/environment.ts';
import { claimsOf, type Told } from '../../../machines/actor/facts.ts';
import { HeldInput } from '../../../machines/actor/held-input.ts';
import type { InputChannelEvents, Payload } from '../../../machines/operation-protocol.ts';
import { EndpointUnavailable } from '../../../machines/operation-protocol.ts';
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import type { Effect } from '../../../machines/tool-operation/machine.ts';
import type { OperationSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import { NOW } from './abstraction.ts';
import { OPERATION, QUESTION, stored } from './values.ts';

/** What states owe, performed: the production table, or one with a planted bug. */
export type Effects = Readonly<Record<Effect, RunEffect>>;
export type Method = 'submit' | 'status' | 'result' | 'cancel' | 'lookup' | 'deliver' | 'update';
/** What the channel of this drive has to say. */
export type News = 'none' | 'question' | 'broken' | 'result';

export interface Situation {
  readonly executionEpoch: number;
  readonly leaseIsHeld: boolean;
  readonly isSender: boolean;
  readonly channelIsOpen: boolean;
  readonly news: News;
  readonly creationAllowed: boolean;
  readonly sessionChanged: boolean;
  readonly reachable: boolean;
}

export interface Performance {
  /** The request that went out, if any. */
  readonly method: Method | null;
  /** Came to an end without waiting (or with the given answer); `null`: it waits for an answer. */
  readonly events: readonly OperationEvent[] | null;
  readonly becameSender: boolean;
  readonly spentSender: boolean;
  readonly channelIsOpen: boolean;
}

const silent: Clock = { monotonic: () => NOW, random: () => 0, sleep: async () => undefined };

/** `answer`: what the one request of this effect comes back with. */
export async function perform(
  effects: Effects,
  snapshot: OperationSnapshot,
  effect: Effect,
  situation: Situation,
  answer: unknown | undefined,
  result: Payload,
): Promise<Performance> {
  let method: Method | null = null;
  let becameSender = false;
  let spentSender = false;
  // What waits for an answer ends when it was looked at: its timer would keep all of it.
  const over = new AbortController();
  const asked = (name: Method) => {
    method = name;
    if (answer === undefined) return untilOver(over.signal);
    return answer === 'throws' ? Promise.reject(new Error('broke off')) : Promise.resolve(answer as never);
  };
  const session = {
    submit: async (_: unknown, options: { readonly mayWrite: () => boolean }) =>
      options.mayWrite() ? asked('submit') : { kind: 'notSent', reason: 'the lease is over' },
    status: () => asked('status'),
    result: () => asked('result'),
    cancel: () => asked('cancel'),
    lookup: () => asked('lookup'),
    answerInput: () => asked('update'),
    openInput: (_: unknown, events: InputChannelEvents) => {
      speak = events;
      return { deliver: () => asked('deliver'), close: () => undefined };
    },
  };
  let speak: InputChannelEvents | null = null;
  const connections = {
    session: async () => {
      if (!situation.reachable) throw new EndpointUnavailable('nobody listens');
      return session;
    },
    sessionChanged: () => situation.sessionChanged,
    loseSession: () => undefined,
  };
  const time = { now: () => NOW };
  const env = {
    clock: silent,
    time,
    connections,
    ledger: {
      maxPayloadBytes: 1_000_000,
      readPayload: async (_: string, digest: string) => stored.get(digest) ?? null,
      ownTask: async (_: string, taskId: string) => (taskId === 'foreign' ? 'another operation' : OPERATION),
      takePermit: async () => ({ waitMs: 0 }),
      adapterState: async () => 'active',
      creationOf: async () => ({ allowed: true, epoch: situation.executionEpoch }),
    },
    tenure: { over: over.signal },
    rate: { qps: 1, burst: 1 },
    requestTimeoutMs: 2 ** 30,
    executionEpoch: situation.executionEpoch,
    approval: null,
    outputGuards: [],
    creationAllowed: () => situation.creationAllowed,
    log: () => undefined,
  };
  const drive = {
    env,
    context: snapshot.context,
    opened: { snapshot },
    operationId: OPERATION,
    stopping: over.signal,
    lease: { isHeld: () => situation.leaseIsHeld },
    issue: () => ({
      claims: claimsOf(snapshot.context, situation.executionEpoch),
      sentAt: NOW,
      payloadLimit: 1_000_000,
    }),
    newSender: () => {
      becameSender = true;
      return 'a drive';
    },
    becomesSender: () => {
      spentSender = situation.isSender;
      return situation.isSender;
    },
    maySend: async () => true,
    tellLate: () => undefined,
    wake: () => undefined,
    input: null as unknown as HeldInput,
  };
  drive.input = new HeldInput(drive as unknown as OperationDrive);
  if (situation.channelIsOpen || situation.news !== 'none') {
    situation.reachable && (await drive.input.open());
    const events = speak as InputChannelEvents | null;
    if (situation.news === 'question') events?.request(QUESTION);
    if (situation.news === 'broken') events?.closed('the connection is gone');
    if (situation.news === 'result') events?.closed('the task is over', result);
  }
  const issued = drive.issue();
  const running = effects[effect](drive as unknown as OperationDrive, issued, over.signal).catch((error: unknown) => {
    if (!(error instanceof EndpointUnavailable)) throw error;
    const event = { ...stampOf(env as never), claims: issued.claims, ...unreachable(effect, 'nobody listens') };
    return [{ event: event as OperationEvent, payloads: [] }] satisfies Told[];
  });
  const told = await Promise.race([running, settled()]);
  if (told !== null) {
    for (const { payloads } of told) for (const { digest, text } of payloads) stored.set(digest, text);
  }
  const performed = {
    method,
    events: told === null ? null : told.map(({ event }) => event),
    becameSender,
    spentSender,
    channelIsOpen: drive.input.isOpen(),
  };
  over.abort(LOOKED_AT);
  return performed;
}

/** A reason that is made once: without one each abort makes an error. */
const LOOKED_AT = 'what it waits for is known';

const untilOver = (over: AbortSignal) =>
  new Promise<never>((_, reject) => {
    over.addEventListener('abort', () => reject(over.reason), { once: true });
  });

/** After everything that does not wait for the answer has run. */
const settled = () => new Promise<null>((resolve) => setImmediate(() => setImmediate(() => resolve(null))));
