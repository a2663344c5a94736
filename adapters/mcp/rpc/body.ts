import type { IncomingMessage } from 'node:http';
import type { BodyEnd } from './exchange.ts';

interface BodyWatch {
  readonly maxBytes: number;
  readonly eventStream: boolean;
  eventId(): void;
  ended(end: BodyEnd): void;
}

/**
 * The body of a response as a web stream, with a limit on the size of one message (of an event stream that may live
 * for hours, each event counts for itself) and a report of how it ended.
 */
export function watchedBody(response: IncomingMessage, watch: BodyWatch): ReadableStream<Uint8Array> {
  let openBytes = 0;
  let tail = '\n';
  let over = false;

  const end = (complete: boolean, oversized = false): void => {
    if (over) return;
    over = true;
    // A JSON body that stops early is always cut; an event stream only inside an event.
    const truncated = !oversized && (watch.eventStream ? openBytes > 0 : !complete);
    watch.ended({ truncated, oversized });
  };

  const count = (chunk: Buffer): void => {
    if (!watch.eventStream) {
      openBytes += chunk.length;
      return;
    }
    const text = tail + chunk.toString('latin1');
    if (/[\r\n]id:/.test(text)) watch.eventId();
    const blank = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\n\r\n'));
    const close = blank < 0 ? -1 : text.indexOf('\n', blank + 1) + 1;
    openBytes = close < 0 ? openBytes + chunk.length : text.length - close;
    tail = text.slice(-4);
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        response.on('data', (chunk: Buffer) => {
          if (over) return;
          count(chunk);
          if (openBytes > watch.maxBytes) {
            end(false, true);
            controller.error(new Error('the message is over the size limit'));
            response.destroy();
            return;
          }
          controller.enqueue(new Uint8Array(chunk));
          if ((controller.desiredSize ?? 1) <= 0) response.pause();
        });
        response.on('end', () => {
          if (over) return;
          controller.close();
          end(true);
        });
        const broken = (): void => {
          if (over) return;
          controller.error(new Error('the connection broke'));
          end(false);
        };
        response.on('error', broken);
        response.on('close', broken);
      },
      pull() {
        response.resume();
      },
      cancel() {
        over = true;
        // What nobody reads is drained if it is short (so that the connection can be used again), else cut.
        if (watch.eventStream || Number(response.headers['content-length'] ?? 0) > 65_536) response.destroy();
        else response.resume();
      },
    },
    { highWaterMark: 16 },
  );
}
