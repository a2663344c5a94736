/** From a program to a receiver of the inspector's protocol on this machine, as `toolop inspect` is one. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Bridge } from './bridge.ts';

/** What is there answers at once, ms. */
const OPEN_MS = 5_000;
/** A receiver that is this far behind gets no more of it. */
const MAX_BEHIND_BYTES = 8 * 1024 ** 2;
/** How long the last frames may take, ms. */
const FAREWELL_MS = 1_000;

/** Rejects where nothing receives. `lost`: it ended before this did. */
export async function openFeed(url: string, lost: (error: Error) => void): Promise<Bridge> {
  const receiver = new WebSocket(url, { handshakeTimeout: OPEN_MS });
  await once(receiver, 'open');
  let closing = false;
  // What went wrong is told by the end that follows.
  receiver.on('error', () => undefined);
  const ended = once(receiver, 'close').then(() => {
    if (!closing) lost(new Error(`the receiver at ${url} has ended`));
  });
  return {
    url,
    send(frame) {
      if (receiver.readyState !== WebSocket.OPEN) return;
      if (receiver.bufferedAmount > MAX_BEHIND_BYTES) receiver.terminate();
      else receiver.send(JSON.stringify(frame));
    },
    async close() {
      closing = true;
      receiver.close();
      const impatient = setTimeout(() => receiver.terminate(), FAREWELL_MS);
      await ended;
      clearTimeout(impatient);
    },
  };
}
