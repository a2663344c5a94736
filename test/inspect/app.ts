/** An ordinary XState program that is looked at: a machine with regions and a nested one, a promise, a callback, a child machine. `INSPECT`: where it sends. */
import { createInterface } from 'node:readline';
import { createWebSocketInspector } from '@statelyai/inspect';
import { assign, createActor, fromCallback, fromPromise, setup } from 'xstate';

const parcel = setup({}).createMachine({
  id: 'parcel',
  initial: 'packed',
  states: { packed: { on: { SHIP: 'shipped' } }, shipped: { type: 'final' } },
});

const order = setup({
  types: { context: {} as { paid: number; note: string }, input: {} as { note: string } },
  actors: {
    price: fromPromise(async () => ({ cents: 4_200 })),
    clock: fromCallback(() => () => undefined),
    parcel,
  },
  guards: { isPaid: ({ context }) => context.paid > 0 },
}).createMachine({
  id: 'order',
  description: 'An order with a payment and a delivery that go on side by side.',
  context: ({ input }) => ({ paid: 0, note: input.note }),
  initial: 'pricing',
  on: { ABORT: '.aborted' },
  states: {
    pricing: { invoke: { src: 'price', id: 'price', onDone: 'open' } },
    open: {
      type: 'parallel',
      invoke: { src: 'clock', id: 'clock' },
      onDone: 'closed',
      states: {
        payment: {
          initial: 'owed',
          states: {
            owed: { on: { PAY: { target: 'paid', actions: assign({ paid: 1 }) } } },
            paid: { type: 'final' },
          },
        },
        delivery: {
          initial: 'waiting',
          states: {
            waiting: { on: { SEND: { target: 'underway', guard: 'isPaid' } }, after: { 60000: 'late' } },
            late: {},
            underway: {
              initial: 'leaving',
              invoke: { src: 'parcel', id: 'parcel' },
              states: { leaving: { on: { MOVE: 'travelling' } }, travelling: {} },
              on: { ARRIVE: 'arrived' },
            },
            arrived: { type: 'final' },
          },
        },
      },
    },
    closed: { type: 'final' },
    aborted: { type: 'final' },
  },
});

const inspector = createWebSocketInspector({ url: process.env.INSPECT ?? '' });
const actor = createActor(order, { input: { note: process.env.NOTE ?? '' }, inspect: inspector.inspect });
actor.start();
// Each line is an event; the end of them is the end of the program.
createInterface({ input: process.stdin })
  .on('line', (type) => actor.send({ type } as never))
  .on('close', () => process.exit(0));
