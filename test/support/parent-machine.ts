/** An agent runtime in small: an XState parent that invokes two operations at once and is over when both are. */
import { assign, sendTo, setup } from 'xstate';
import type { OperationLogic, ToolCall } from '../../machines/index.ts';

export type Child = 'one' | 'two';
export interface ParentContext {
  readonly calls: Readonly<Record<Child, ToolCall>>;
  /** Receipt ids in the order of the `onDone`s. */
  readonly done: readonly string[];
  readonly failed: readonly { readonly name: string; readonly message: string }[];
}
export interface News {
  readonly child: Child;
  readonly done?: string;
  readonly failed?: string;
}

/** `told` hears of each `onDone` and `onError`. */
export function parentMachine(toolOperation: OperationLogic, told: (news: News) => void = () => undefined) {
  return setup({
    types: {
      context: {} as ParentContext,
      input: {} as ParentContext['calls'],
      events: {} as { readonly type: 'cancel'; readonly child: Child },
    },
    actors: { toolOperation },
  }).createMachine({
    id: 'parent',
    type: 'parallel',
    context: ({ input }) => ({ calls: input, done: [], failed: [] }),
    on: { cancel: { actions: sendTo(({ event }) => event.child, { type: 'cancel', reason: 'the parent says so' }) } },
    states: {
      first: {
        initial: 'running',
        states: {
          running: {
            invoke: {
              id: 'one',
              src: 'toolOperation',
              input: ({ context }) => context.calls.one,
              onDone: {
                target: 'over',
                actions: [
                  assign({ done: ({ context, event }) => [...context.done, event.output.receipt.receiptId] }),
                  ({ event }) => told({ child: 'one', done: event.output.receipt.receiptId }),
                ],
              },
              onError: {
                target: 'over',
                actions: [
                  assign({ failed: ({ context, event }) => [...context.failed, described(event.error)] }),
                  ({ event }) => told({ child: 'one', failed: described(event.error).name }),
                ],
              },
            },
          },
          over: { type: 'final' },
        },
      },
      second: {
        initial: 'running',
        states: {
          running: {
            invoke: {
              id: 'two',
              src: 'toolOperation',
              input: ({ context }) => context.calls.two,
              onDone: {
                target: 'over',
                actions: [
                  assign({ done: ({ context, event }) => [...context.done, event.output.receipt.receiptId] }),
                  ({ event }) => told({ child: 'two', done: event.output.receipt.receiptId }),
                ],
              },
              onError: {
                target: 'over',
                actions: [
                  assign({ failed: ({ context, event }) => [...context.failed, described(event.error)] }),
                  ({ event }) => told({ child: 'two', failed: described(event.error).name }),
                ],
              },
            },
          },
          over: { type: 'final' },
        },
      },
    },
  });
}

const described = (error: unknown) => {
  const { name, message } = error as Error;
  return { name, message };
};
