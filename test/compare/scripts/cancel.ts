/** F4, F5: a cancel and an end meet. */
import type { Hand, Script } from '../script.ts';
import { AIP, ALL, MCP, MCP_2026 } from './protocols.ts';

const HOLD = { outcome: 'hold' } as const;
const working = async ({ created, seen, settled }: Hand) => {
  await created();
  await seen('get', 1);
  // Not in the middle of a read: that is a script of its own.
  await settled();
};

export const cancel: readonly Script[] = [
  {
    name: 'a cancel that is obeyed',
    rows: ['B9'],
    protocols: ALL,
    what: 'The caller cancels, the server cancels.',
    work: HOLD,
    needs: ['cancel'],
    plot: async (hand) => {
      await working(hand);
      await hand.cancel();
    },
  },
  {
    name: 'a cancel that is only heard',
    rows: ['F4', 'B9'],
    protocols: [...MCP_2026, ...AIP],
    what: 'The cancel is acknowledged; the tool works on and completes, with its effect.',
    source: 'https://github.com/googleapis/google-cloud-cpp/pull/7762',
    work: { ms: 900 },
    cancelIs: 'heard',
    needs: ['cancel'],
    plot: async (hand) => {
      await working(hand);
      await hand.cancel();
    },
  },
  {
    name: 'completed just before the cancel',
    rows: ['F4', 'B9'],
    protocols: ALL,
    what: 'The operation is completed when the cancel arrives; the client has not seen it yet.',
    source: 'https://github.com/modelcontextprotocol/python-sdk/pull/3003',
    work: { ...HOLD, pollIntervalMs: 400 },
    needs: ['cancel'],
    plot: async (hand) => {
      await working(hand);
      await hand.complete();
      await hand.cancel();
    },
  },
  {
    name: 'cancelled in the middle of a status read',
    rows: ['B9', 'B14'],
    protocols: ALL,
    what: 'One status read takes 300 ms; the cancel is sent meanwhile and obeyed.',
    source: 'https://github.com/Azure/azure-sdk-for-js/pull/22121',
    work: HOLD,
    needs: ['cancel'],
    plot: async ({ created, fault, met, cancel }) => {
      await created();
      await fault({ on: 'get', kind: 'late-reply', ms: 300 });
      await met();
      await cancel();
    },
  },
  {
    name: 'the acknowledgement of the cancel is lost',
    rows: ['F5', 'B9'],
    protocols: ALL,
    what: 'The server cancels, its answer is lost.',
    source: 'https://github.com/microsoft/agent-framework/pull/7774',
    work: HOLD,
    needs: ['cancel'],
    plot: async (hand) => {
      await working(hand);
      await hand.fault({ on: 'cancel', kind: 'lose-reply' });
      await hand.cancel();
    },
  },
  {
    name: 'the cancel never arrives',
    rows: ['F5', 'B9'],
    protocols: ALL,
    what: 'The request is lost on the way, once; the tool works on and would complete after 2.5 s.',
    source: 'https://github.com/apify/apify-mcp-server/issues/763',
    work: { ms: 2_500 },
    needs: ['cancel'],
    plot: async (hand) => {
      await working(hand);
      await hand.fault({ on: 'cancel', kind: 'lose-request' });
      await hand.cancel();
    },
  },
  {
    name: 'cancelled before the id is known',
    rows: ['B9', 'B14'],
    protocols: MCP,
    what: 'The caller cancels while the reply with the id is still on its way (0.5 s); the tool works for 3 s.',
    source: 'https://github.com/IngvarConsulting/unica/issues/929',
    work: { ms: 3_000 },
    before: [{ on: 'create', kind: 'late-reply', ms: 500 }],
    needs: ['cancel'],
    plot: async (hand) => {
      await hand.created();
      await hand.cancel();
    },
  },
];
