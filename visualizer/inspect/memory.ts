/** What a late viewer needs: each actor with its definition and its last snapshot, however many events came since. */
import { z } from 'zod';

const MAX_ACTORS = 200;
export const MAX_FRAME_BYTES = 1024 * 1024;

const Frame = z.looseObject({
  type: z.enum(['@xstate.actor', '@xstate.event', '@xstate.snapshot']),
  sessionId: z.string().max(512),
});

export class FrameMemory {
  readonly #actors = new Map<string, { readonly actor: string; snapshot: string | null }>();

  /** Answers whether this is a frame of the protocol. */
  take(text: string): boolean {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return false;
    }
    const frame = Frame.safeParse(json);
    if (!frame.success) return false;
    const { type, sessionId } = frame.data;
    if (type === '@xstate.actor') {
      this.#actors.delete(sessionId);
      this.#actors.set(sessionId, { actor: text, snapshot: null });
      const [oldest] = this.#actors.keys();
      if (this.#actors.size > MAX_ACTORS && oldest !== undefined) this.#actors.delete(oldest);
    }
    const known = this.#actors.get(sessionId);
    if (type === '@xstate.snapshot' && known) known.snapshot = text;
    return true;
  }

  replay(): readonly string[] {
    return [...this.#actors.values()].flatMap(({ actor, snapshot }) => [actor, ...(snapshot ? [snapshot] : [])]);
  }
}
