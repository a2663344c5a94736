/** Facts and commands to the chart: whatever they carry, only its own arrows are taken and the record can be opened again. */
import fc from 'fast-check';
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import { OPERATION_EVENT_TYPES } from '../../../machines/tool-operation/events.ts';
import { acceptFieldsOf } from '../../../machines/tool-operation/guards.ts';
import { toolOperation } from '../../../machines/tool-operation/machine.ts';
import { applyEvent } from '../../../machines/tool-operation/snapshot.ts';
import { BORN, claimsOf, digestOf, START } from '../../machines/scenario.ts';
import { strings } from '../dirt.ts';
import { feedChart, situation } from '../situations.ts';
import { target } from '../target.ts';

type Fields = Readonly<Record<string, unknown>>;
interface Input {
  readonly situation: number;
  readonly events: readonly { readonly type: string; readonly stale: Fields; readonly fields: Fields }[];
}

// What the boundaries let through: ids of 1 to 512 characters, texts up to 2,000, times of the ledger's clock.
const idText = strings.filter((text) => text !== '').map((text) => text.slice(0, 512));
const id = fc.oneof({ weight: 4, arbitrary: fc.constant('task-1') }, { weight: 1, arbitrary: idText });
const ms = fc.oneof(fc.constantFrom(0, 1, 500, 86_400_000), fc.double({ min: 0, max: Number.MAX_VALUE, noNaN: true }));
const count = fc.oneof({ weight: 5, arbitrary: fc.nat(4) }, { weight: 1, arbitrary: fc.maxSafeNat() });
const digest = fc.constantFrom('1', '2', 'e', 'f', 'd').map(digestOf);
const ref = fc.record({
  digest,
  bytes: fc.nat(1_000),
  kind: fc.constantFrom('result', 'error'),
  isError: fc.boolean(),
});
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary);
const task = fc.record({
  taskId: id,
  createdAt: maybe(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(BORN) },
      { weight: 1, arbitrary: idText.map((text) => text.slice(0, 64)) },
    ),
  ),
  status: fc.constantFrom('working', 'input_required', 'completed', 'failed', 'cancelled'),
  statusMessage: maybe(strings),
  pollIntervalMs: maybe(ms),
  expiry: maybe(ms.map((left) => ({ earliest: START + left, latest: START + left }))),
  foreign: fc.constantFrom(false, false, false, true),
});
const text = strings.map((words) => words.slice(0, 2_000));

const fields: fc.Arbitrary<Fields> = fc.record({
  task,
  result: maybe(ref),
  auditResult: maybe(ref),
  reason: text,
  note: text,
  by: idText,
  sender: idText,
  retryAfterMs: fc.oneof(fc.nat(86_400_000), fc.constant(undefined)),
  sessionChanged: fc.boolean(),
  closedThroughAttempt: count,
  creationAllowed: fc.boolean(),
  adapterEnded: fc.boolean(),
  keys: fc.array(
    digest.map((whole) => whole.slice(0, 16)),
    { maxLength: 3 },
  ),
  schemaDigest: digest,
  questionDigest: digest,
  replyDigest: digest,
  round: fc.nat(3),
  taskId: id,
  foreign: fc.boolean(),
  status: fc.constantFrom('completed', 'failed', 'cancelled'),
  executionEpoch: count,
  verdict: fc.record({ released: fc.boolean(), marks: fc.array(text, { maxLength: 3 }) }),
  at: fc.oneof(fc.nat(2_000_000), fc.constant(START * 1_000_000)),
  random: fc.double({ min: 0, max: 1, noNaN: true }),
});
const off = fc.constantFrom(-1, 0, 1);
const changed: fc.Arbitrary<Fields> = fc.record(
  {
    executionEpoch: off,
    attempt: off,
    cancelGeneration: off,
    pollCursor: off,
    inputRound: off,
    taskId: maybe(id),
    endpointId: strings,
    toolVersion: digest,
    requestDigest: digest,
  },
  { requiredKeys: [] },
);

const stale = fc.oneof({ weight: 3, arbitrary: fc.constant<Fields>({}) }, { weight: 1, arbitrary: changed });

const RESULT_NEEDED: ReadonlySet<string> = new Set(['submit.outcome', 'result.fetched']);
/** Fields that belong to some events only, where their presence would mean something else. */
const ONLY: Readonly<Record<string, RegExp>> = {
  task: /^(submit\.acknowledged|lookup\.found|lookup\.expiredWithReceipt|poll\.status|cancel\.confirmed)$/,
  result:
    /^(submit\.outcome|lookup\.expiredWithReceipt|poll\.status|result\.fetched|input\.channelClosed|reconcile\.accept)$/,
  reason:
    /notSent|rejected|connectionLost|unavailable|failed|notFound|channelClosed|notDelivered|refused|unsupported|unanswered|gone|cancel\.request/,
  note: /^reconcile/,
  foreign: /^reconcile\.attach$/,
  sender: /^(submit\.begin|input\.send)$/,
  creationAllowed: /^submit\.(begin|requeue)$/,
  adapterEnded: /^submit\.begin$/,
  keys: /^(input\.requested|submit\.inputRequired)$/,
  sessionChanged: /notFound$/,
};
const COMMANDS = /^(cancel\.request|input\.reply|reconcile\.|epoch\.)/;

export const chart = target<Input>({
  name: 'chart',
  about: 'facts and commands to the chart, fresh and stale, in every state, several in a row',
  share: 200,
  open: () => ({
    inputs: fc.record({
      situation: fc.nat(100),
      events: fc.array(fc.record({ type: fc.constantFrom(...OPERATION_EVENT_TYPES, 'xstate.stop'), stale, fields }), {
        minLength: 1,
        maxLength: 4,
      }),
    }),
    feed({ situation: at, events }) {
      let snapshot = situation(at);
      let taken = false;
      for (const { type, stale: changes, fields: given } of events) {
        const claims = claimsOf(snapshot.context);
        const claimed = Object.entries(changes).map(([name, change]) => {
          const now: unknown = Reflect.get(claims, name);
          if (change === undefined) return [name, now];
          return [name, typeof change === 'number' && typeof now === 'number' ? now + change : change];
        });
        const shown = Object.entries(given).filter(([name]) => ONLY[name]?.test(type) ?? true);
        const result = given.result ?? { digest: digestOf('1'), bytes: 1, kind: 'result', isError: false };
        const event = {
          ...Object.fromEntries(shown),
          ...(RESULT_NEEDED.has(type) ? { result } : {}),
          ...(COMMANDS.test(type) ? {} : { claims: { ...claims, ...Object.fromEntries(claimed) } }),
          ...(type === 'terminal.accept' ? { expected: acceptFieldsOf(snapshot.context) } : {}),
          type,
        } as unknown as OperationEvent;
        taken = feedChart(snapshot, { event }) === 'accepted' || taken;
        snapshot = applyEvent(toolOperation, snapshot, event);
      }
      return taken ? 'accepted' : 'refused';
    },
  }),
});
