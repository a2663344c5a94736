/**
 * The socket on which programs send. It tells nobody anything, and so asks for no token: an address that stays the same can
 * stand in a program. Only this machine reaches it, and of pages only those that were served here.
 */
import { WebSocket, WebSocketServer } from 'ws';
import { isLoopbackOrigin } from '../loopback.ts';
import { refuseUpgrade, type Upgrade } from '../web/server.ts';
import { readFrame } from './frame.ts';
import type { Program } from './program.ts';
import type { Received } from './received.ts';

const MAX_CONNECTED = 32;
/** A larger frame ends the connection: it is not even read. One above the limit of a frame is refused, and the next one is taken. */
const MAX_READ_BYTES = 8 * 1024 ** 2;
/** How long a program may take to hear that this has ended, ms. */
const FAREWELL_MS = 200;

export interface Programs {
  readonly upgrade: Upgrade;
  close(): Promise<void>;
}

/** `said`: of who came and who left. */
export function admitPrograms(received: Received, said: (words: string) => void): Programs {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_READ_BYTES });
  return {
    upgrade(request, socket, head) {
      const { headers, url } = request;
      if (url?.split('?', 1)[0] !== '/') return refuseUpgrade(socket, '404 Not Found');
      if (!isLoopbackOrigin(headers)) return refuseUpgrade(socket, '403 Forbidden');
      if (sockets.clients.size >= MAX_CONNECTED) return refuseUpgrade(socket, '503 Service Unavailable');
      sockets.handleUpgrade(request, socket, head, (sender) => {
        const program = received.join(headers.origin ?? null);
        said(`program ${program.program} has connected`);
        listen(sender, program, received, () => said(`program ${program.program} has disconnected`));
      });
    },
    async close() {
      const senders = [...sockets.clients];
      const left = senders.map((sender) => new Promise((resolve) => sender.once('close', resolve)));
      for (const sender of senders) sender.close(1001, 'the receiver has ended');
      const impatient = setTimeout(() => {
        for (const sender of senders) sender.terminate();
      }, FAREWELL_MS);
      await Promise.all(left);
      clearTimeout(impatient);
    },
  };
}

function listen(sender: WebSocket, program: Program, received: Received, gone: () => void): void {
  sender.on('message', (data: Buffer, isBinary) => {
    if (sender.readyState !== WebSocket.OPEN) return;
    if (isBinary) return received.refuse(program, 'a frame that is not text');
    const read = readFrame(data.toString(), data.length);
    if ('problem' in read) return received.refuse(program, read.problem);
    try {
      received.take(program, read.frame);
    } catch (error) {
      // So deep that it cannot be walked.
      received.refuse(program, `a frame that cannot be kept: ${(error as Error).message}`);
    }
  });
  sender.on('error', (error) => {
    received.refuse(program, `the connection was ended: ${error.message}`);
    sender.terminate();
  });
  sender.once('close', () => {
    received.leave(program);
    gone();
  });
}
