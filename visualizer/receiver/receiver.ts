/** The receiver of the Stately inspector's protocol: programs send, and a local page draws what they sent. */
import { z } from 'zod';
import { stream } from '../web/events.ts';
import { documentHtml, type PageFiles, pageFiles } from '../web/page-files.ts';
import { type Asked, openDoor, refuse } from '../web/server.ts';
import { admitPrograms } from './programs.ts';
import { type Bounds, Received } from './received.ts';
import type { ReceiverSetup } from './view.ts';

/** What the stream could not send while the page was slow is looked at again, ms. */
const LOOK_MS = 1_000;

export interface ReceiverOptions {
  /** 0: any that is free. */
  readonly port: number;
  /** Of who came and who left. */
  readonly said: (words: string) => void;
  readonly bounds?: Partial<Bounds>;
}

export interface Receiver extends ReceiverSetup {
  /** The page, with its token. */
  readonly url: string;
  close(): Promise<void>;
}

/** Rejects with the error of `listen` where the port is in use. */
export async function openReceiver({ port, said, bounds }: ReceiverOptions): Promise<Receiver> {
  const files = await pageFiles('inspect');
  const received = new Received(bounds);
  const programs = admitPrograms(received, said);
  const door = await openDoor(port, (asked) => route(files, received, asked), programs.upgrade);
  return {
    ...setupOf(new URL(door.url).host),
    url: door.url,
    async close() {
      await programs.close();
      await door.close();
    },
  };
}

function setupOf(host: string): ReceiverSetup {
  const socket = `ws://${host}`;
  return {
    socket,
    code: `createActor(machine, { inspect: createWebSocketInspector({ url: '${socket}' }).inspect })`,
  };
}

const Query = z.object({ actor: z.coerce.number().int().min(1).optional().catch(undefined) });

async function route(
  files: PageFiles,
  received: Received,
  { method, path, query, response, request }: Asked,
): Promise<void> {
  if (method !== 'GET') return void refuse(response, 405, 'there is nothing to send here');
  const send = (type: string, body: string) =>
    void response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body);
  switch (path) {
    case '':
      return send('text/html', documentHtml(files, setupOf(request.headers.host ?? ''), 'This page needs JavaScript.'));
    case 'page.js':
      return send('text/javascript', files.script);
    case 'page.css':
      return send('text/css', files.style);
    case 'api/received': {
      const { actor } = Query.parse(Object.fromEntries(query));
      return stream(response, {
        everyMs: LOOK_MS,
        onChange: (changed) => received.onChange(changed),
        look: async () => received.view(actor ?? null),
      });
    }
    default:
      refuse(response, 404, 'there is nothing here');
  }
}
