/** A TCP proxy on loopback that breaks connections at chosen moments: the faults that a server cannot make itself. */
import { once } from 'node:events';
import net from 'node:net';

/** What becomes of connections and of what they carry, until another mode is set. */
export type ProxyMode =
  /** As if it were not there: how it starts. */
  | { readonly kind: 'pass' }
  /**
   * The next `times` (default 1) requests whose text matches reach the server whole; its answer (the first byte that
   * comes afterwards) is thrown away and the connection reset.
   */
  | { readonly kind: 'cutAfterRequest'; readonly matches: string | RegExp; readonly times?: number }
  /** Nobody listens: connections are refused, open ones reset. */
  | { readonly kind: 'refuse' }
  /** Connections are taken and nothing is passed on. */
  | { readonly kind: 'blackhole' }
  /** Everything arrives later. */
  | { readonly kind: 'delay'; readonly ms: number };

/** A proxy before one port of 127.0.0.1. It knows bytes, and no messages: for these see `startHttpProxy`. */
export interface TcpProxy {
  /** Of 127.0.0.1, free at its start; it stays the same when `refuse` ends. */
  readonly port: number;
  /** `http://127.0.0.1:port/mcp` */
  readonly url: string;
  /** For new connections and for those that are open; `refuse` resets these. Takes effect before it resolves. */
  setMode(mode: ProxyMode): Promise<void>;
  /** What happened, in order: `open` (a connection), `cut`, `refused` (the mode was set). */
  readonly log: readonly string[];
  /** Stops listening and resets what is open. */
  close(): Promise<void>;
}

/** Starts a proxy before a port of 127.0.0.1, on a free port; nothing has to listen on `targetPort` yet. */
export async function startProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<net.Socket>();
  const log: string[] = [];
  let mode: ProxyMode = { kind: 'pass' };
  let cutsLeft = 0;

  const server = net.createServer((near) => {
    log.push('open');
    track(near);
    if (mode.kind === 'blackhole') {
      near.resume();
      return;
    }
    const far = track(net.connect(targetPort, '127.0.0.1'));
    let seen = '';
    let cutNow = false;
    near.on('data', (chunk) => {
      if (mode.kind === 'cutAfterRequest' && cutsLeft > 0 && !cutNow) {
        seen = (seen + chunk.toString('latin1')).slice(-65_536);
        const { matches } = mode;
        if (typeof matches === 'string' ? seen.includes(matches) : matches.test(seen)) {
          cutsLeft -= 1;
          cutNow = true;
        }
      }
      later(() => far.write(chunk));
    });
    far.on('data', (chunk) => {
      if (cutNow) {
        log.push('cut');
        near.resetAndDestroy();
        far.destroy();
        return;
      }
      later(() => near.write(chunk));
    });
    near.on('close', () => later(() => far.destroy()));
    far.on('close', () => later(() => near.destroy()));
  });

  function track(socket: net.Socket): net.Socket {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    return socket;
  }
  function later(action: () => void): void {
    if (mode.kind === 'blackhole') return;
    if (mode.kind === 'delay') setTimeout(action, mode.ms);
    else action();
  }
  async function listen(port: number): Promise<number> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as net.AddressInfo).port;
  }
  async function stopListening(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  }

  const port = await listen(0);
  return {
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    log,
    async setMode(next) {
      mode = next;
      cutsLeft = next.kind === 'cutAfterRequest' ? (next.times ?? 1) : 0;
      if (next.kind === 'refuse') {
        log.push('refused');
        await stopListening();
      } else if (!server.listening) {
        await listen(port);
      }
    },
    close: stopListening,
  };
}
