/** A receiver, real programs that send to it, and a socket by hand for what no honest program sends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import WebSocket, { type ClientOptions } from 'ws';
import type { Bounds } from '../../visualizer/receiver/received.ts';
import { openReceiver, type Receiver } from '../../visualizer/receiver/receiver.ts';
import type { ActorRow, ReceivedView } from '../../visualizer/receiver/view.ts';
import { program } from '../kit/program.ts';
import { eventually } from '../support/rig.ts';

const APP = fileURLToPath(new URL('./app.ts', import.meta.url));

export interface App {
  event(type: string): void;
  /** It ends, as programs do. */
  end(): Promise<void>;
}

export interface ReceiverStage {
  receiver(bounds?: Partial<Bounds>): Promise<Receiver>;
  /** The program of `app.ts`. */
  app(socket: string, note?: string): App;
  /** Connected. Rejects with the answer where it is not let in. */
  connect(socket: string, options?: ClientOptions): Promise<WebSocket>;
}

export function useReceiver(): ReceiverStage {
  const closers: (() => unknown)[] = [];
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });
  return {
    async receiver(bounds = {}) {
      const receiver = await openReceiver({ port: 0, said: () => undefined, bounds });
      closers.push(() => receiver.close());
      return receiver;
    },
    app(socket, note = '') {
      const env = { ...process.env, INSPECT: socket, NOTE: note };
      const child: ChildProcess = spawn(process.execPath, [...program(APP)], {
        env,
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      const gone = once(child, 'close');
      closers.push(() => child.kill('SIGKILL'));
      return {
        event: (type) => void child.stdin?.write(`${type}\n`),
        async end() {
          child.stdin?.end();
          await gone;
        },
      };
    },
    async connect(socket, options = {}) {
      const sender = new WebSocket(socket, options);
      closers.push(() => sender.terminate());
      await once(sender, 'open');
      return sender;
    },
  };
}

/** What a page that comes now is shown first. */
export async function seenBy({ url }: Receiver, actor?: number): Promise<ReceivedView> {
  const gone = new AbortController();
  const answer = await fetch(`${url}api/received${actor === undefined ? '' : `?actor=${actor}`}`, {
    signal: gone.signal,
  });
  let text = '';
  try {
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString('latin1');
      const [, data] = /event: seen\ndata: (.*)\n\n/.exec(text) ?? [];
      if (data !== undefined) return JSON.parse(Buffer.from(data, 'latin1').toString()) as ReceivedView;
    }
    throw new Error(`it showed nothing: ${answer.status} ${text}`);
  } finally {
    gone.abort();
  }
}

/** Until the page shows it. */
export const shown = <T>(
  receiver: Receiver,
  look: (view: ReceivedView) => T | null | false | undefined,
  actor?: number,
): Promise<T> => eventually(async () => look(await seenBy(receiver, actor)));

export const actorsOf = (view: ReceivedView): readonly ActorRow[] => view.programs.flatMap(({ actors }) => actors);

/** Frames as the inspector's own sender writes them. */
export const frames = {
  actor: (sessionId: string, more: object = {}) =>
    JSON.stringify({
      type: '@xstate.actor',
      sessionId,
      name: sessionId,
      createdAt: `${Date.now()}`,
      _version: '0',
      ...more,
    }),
  event: (sessionId: string, event: object, more: object = {}) =>
    JSON.stringify({ type: '@xstate.event', sessionId, event, createdAt: `${Date.now()}`, _version: '0', ...more }),
  snapshot: (sessionId: string, snapshot: object, event: object = { type: 'x' }) =>
    JSON.stringify({ type: '@xstate.snapshot', sessionId, snapshot, event, createdAt: `${Date.now()}`, _version: '0' }),
};
