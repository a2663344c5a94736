/**
 * From a program to the viewers of the Stately inspector. Listens on loopback only, for no other host name and no other
 * origin. The page embeds the hosted viewer: nothing leaves this machine until somebody opens the page.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { closeHere, isOurName, isOurOrigin, listenHere } from '../loopback.ts';
import { FrameMemory, MAX_FRAME_BYTES } from './memory.ts';
import { PAGE, PAGE_POLICY } from './page.ts';

/** A viewer that is this far behind is left behind. */
const MAX_BEHIND_BYTES = 8 * 1024 * 1024;

export interface Bridge {
  readonly url: string;
  send(frame: unknown): void;
  close(): Promise<void>;
}

/** Rejects with the error of `listen` where the port is in use. 0: any that is free. */
export async function openBridge(port: number): Promise<Bridge> {
  const memory = new FrameMemory();
  const server = createServer((request, response) => {
    if (!isOurs(request)) return void response.writeHead(403).end('this host or origin is not served\n');
    response.writeHead(request.url === '/' ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': PAGE_POLICY,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.end(request.url === '/' ? PAGE : 'there is nothing here\n');
  });
  const isOurs = ({ headers }: IncomingMessage) => isOurName(headers, server) && isOurOrigin(headers);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES });
  server.on('upgrade', (request, socket, head) => {
    if (!isOurs(request)) return socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, (viewer) => {
      viewer.on('error', () => viewer.terminate());
      for (const frame of memory.replay()) viewer.send(frame);
    });
  });
  const url = `${await listenHere(server, port)}/`;
  // It never keeps the process: the operation does.
  server.unref();
  return {
    url,
    send(frame) {
      const text = JSON.stringify(frame);
      if (!memory.take(text)) return;
      for (const viewer of sockets.clients) {
        if (viewer.bufferedAmount > MAX_BEHIND_BYTES) viewer.terminate();
        else if (viewer.readyState === WebSocket.OPEN) viewer.send(text);
      }
    },
    async close() {
      for (const viewer of sockets.clients) viewer.terminate();
      closeHere(server);
    },
  };
}
