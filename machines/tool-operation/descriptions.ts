/** What each event says, in one line: for the inspector, which shows the chart with these on its transitions. */
import type { OperationEventType } from './events.ts';
import { toolOperation } from './machine.ts';

export const eventDescriptions: Readonly<Record<OperationEventType, string>> = {
  'submit.acknowledged': 'The server answered the call with an id that can be queried.',
  'submit.outcome': 'The server did the work at once and answered with its result.',
  'submit.notSent': 'The call provably never reached the server; it may be tried again.',
  'submit.rejected': 'The server refused the call before it was dispatched.',
  'submit.inputRequired': 'The server asks before it makes a task: nothing was created.',
  'submit.connectionLost': 'Whether the call arrived cannot be known.',
  'sender.lost': 'The record says that the call may have been sent, and its sender is gone.',
  'lookup.found': 'The look-up by submission key found the operation.',
  'lookup.neverCreated': 'The server proved that nothing was created under the key, and closed it.',
  'lookup.expiredWithReceipt': 'The task is gone, but the server kept how it ended.',
  'lookup.unavailable': 'The server offers no look-up by submission key.',
  'lookup.failed': 'The look-up was not answered.',
  'poll.status': 'The server described the task.',
  'poll.failed': 'The poll was not answered: nothing is known, nothing changes.',
  'poll.notFound': 'The server does not know the id.',
  'result.fetched': 'The result is in hand and verified.',
  'result.failed': 'The result was lost, cut off or invalid.',
  'result.notFound': 'The server does not know the id whose result was asked for.',
  'input.requested': 'A question of the server arrived.',
  'input.channelClosed': 'The channel on which questions arrive is gone, perhaps with the result.',
  'input.delivered': 'The answer was written to the server.',
  'input.notDelivered': 'The answer was provably not written.',
  'input.deadlinePassed': 'Nobody answered the question in time.',
  'cancel.confirmed': 'The server says that the task is cancelled.',
  'cancel.acknowledged': 'The server heard the cancel; only a later status is evidence.',
  'cancel.refused': 'The server refused the cancel: the status decides.',
  'cancel.unsupported': 'The server has no cancel.',
  'cancel.unanswered': 'The cancel was not answered.',
  'server.gone': 'The only process that could be asked is gone.',
  'submit.begin': 'An executor takes the call off the queue: from here on it may have been sent.',
  'submit.requeue': 'The call goes back on the queue as its next attempt.',
  'input.send': 'An executor takes the answer to the wire.',
  'cancel.request': 'Somebody wants the call cancelled.',
  'input.reply': 'A human answered the open question.',
  'reconcile.attach': 'A human names the task that belongs to this call.',
  'reconcile.accept': 'A human accepts an outcome, with the evidence in writing.',
  'reconcile.neverCreated': 'A human declares that nothing was ever created.',
  'reconcile.giveUp': 'A human gives the operation up.',
  'epoch.adopt': 'A newer execution epoch takes the record over.',
  'terminal.accept': 'The one acceptance: all fields must match.',
};

type Config = { readonly on?: Readonly<Record<string, unknown>>; readonly states?: Readonly<Record<string, Config>> };

/** A copy of the chart's definition with a description on each transition. */
function withDescriptions(config: Config): Config {
  const describe = (event: string, transition: unknown): unknown => {
    if (Array.isArray(transition)) return transition.map((one) => describe(event, one));
    const asObject = typeof transition === 'string' ? { target: transition } : (transition as object);
    return { description: eventDescriptions[event as OperationEventType], ...asObject };
  };
  const entries = <T>(table: Readonly<Record<string, T>>, change: (key: string, value: T) => unknown) =>
    Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(key, value)]));
  return {
    ...config,
    ...(config.on ? { on: entries(config.on, describe) } : {}),
    ...(config.states
      ? { states: entries(config.states, (_, state) => withDescriptions(state)) as Readonly<Record<string, Config>> }
      : {}),
  };
}

/** What the Stately inspector draws. */
export const describedDefinition: unknown = withDescriptions(toolOperation.config as Config);
