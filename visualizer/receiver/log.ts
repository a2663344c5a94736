/** What an actor went through, bounded: the oldest steps give way, and are counted. */
import type { Frame } from './frame.ts';
import { clip, jsonText } from './text.ts';
import type { StepView } from './view.ts';

export const MAX_STEPS = 200;
const MAX_PAYLOAD = 4_096;
const MAX_NAME = 300;
/** An event and the snapshot that it led to are two frames, with others between them. */
const APART = 20;

type Event = Extract<Frame, { type: '@xstate.event' }>['event'];

export class Log {
  #steps: StepView[] = [];
  #count = 0;
  #bytes = 0;

  get steps(): readonly StepView[] {
    return this.#steps;
  }

  get dropped(): number {
    return this.#count - this.#steps.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  event(at: number, event: Event, from: string | null): void {
    this.#add({ at, event: clip(event.type, MAX_NAME), from, payload: payloadOf(event), state: null, changed: false });
  }

  /** A snapshot joins the event that it came of. */
  snapshot(at: number, event: Event | null, state: string, changed: boolean): void {
    const type = clip(event?.type || 'snapshot', MAX_NAME);
    const first = Math.max(0, this.#steps.length - APART);
    const found = this.#steps.findIndex((step, index) => index >= first && step.state === null && step.event === type);
    const step = this.#steps[found];
    if (step) {
      this.#bytes += 2 * state.length;
      this.#steps[found] = { ...step, state, changed };
    } else {
      this.#add({ ...{ at, event: type, from: null, state, changed }, payload: event && payloadOf(event) });
    }
  }

  #add(step: Omit<StepView, 'step'>): void {
    this.#count += 1;
    this.#steps.push({ step: this.#count, ...step });
    this.#bytes += bytesOf(step);
    const oldest = this.#steps.length > MAX_STEPS ? this.#steps.shift() : undefined;
    if (oldest) this.#bytes -= bytesOf(oldest);
  }
}

const bytesOf = ({ event, from, payload, state }: Omit<StepView, 'step'>): number =>
  128 + 2 * (event.length + (from?.length ?? 0) + (payload?.length ?? 0) + (state?.length ?? 0));

const payloadOf = (event: Event): string | null =>
  Object.keys(event).length > 1 ? jsonText(event, MAX_PAYLOAD) : null;
