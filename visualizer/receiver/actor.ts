/** One actor of a program, as far as it was told: its machine, its last snapshot, its last steps. */
import { litOf, readDefinition } from './definition.ts';
import type { Frame, Snapshot } from './frame.ts';
import { Log } from './log.ts';
import { isOperation } from './own.ts';
import { clip, jsonText, stateText } from './text.ts';
import type { ActorRow, ActorStatus, ActorView, StateView } from './view.ts';

const MAX_CONTEXT = 64 * 1024;
const MAX_NAME = 300;
const MAX_TAGS = 50;

type Told<T extends Frame['type']> = Extract<Frame, { type: T }>;

const NOTHING = { context: null, output: null, error: null };

export class Actor {
  readonly log = new Log();
  parentId: string | null = null;
  status: ActorStatus = 'active';
  #name: string;
  #state = '';
  #machine: StateView | null = null;
  #drawn = false;
  #definitionBytes = 0;
  #missing: string | null = 'its definition did not come: the program began to send after it had made this actor';
  #lit: readonly number[] = [];
  #tags: readonly string[] = [];
  #texts: { readonly [part in keyof typeof NOTHING]: string | null } = NOTHING;

  constructor(
    readonly actor: number,
    readonly program: number,
    readonly sessionId: string,
    private readonly since: number,
  ) {
    this.#name = sessionId;
  }

  get name(): string {
    return this.#name;
  }

  /** Of what is kept of it, about. */
  get bytes(): number {
    const texts = Object.values(this.#texts).reduce((sum, text) => sum + (text?.length ?? 0), 0);
    return 1_024 + this.#definitionBytes + 2 * texts + this.log.bytes;
  }

  made({ name, parentId, definition, snapshot }: Told<'@xstate.actor'>): void {
    this.#name = clip(name || this.sessionId, MAX_NAME);
    this.parentId = parentId ?? null;
    this.#define(definition ?? null);
    if (snapshot) this.#stand(snapshot);
  }

  stands(at: number, { event, snapshot }: Told<'@xstate.snapshot'>): void {
    const before = this.#standing();
    this.#stand(snapshot);
    this.log.snapshot(at, event ?? null, this.#state || this.status, before !== this.#standing());
  }

  row(parent: number | null): ActorRow {
    const { actor, sessionId, status } = this;
    return { ...{ actor, parent, sessionId, status }, name: this.#name, state: this.#state };
  }

  view(parent: number | null, connected: boolean): ActorView {
    const { program, since, log } = this;
    return {
      ...this.row(parent),
      ...{ program, connected, since },
      ...{ definition: this.#machine, missing: this.#missing, drawn: this.#drawn, lit: this.#lit, tags: this.#tags },
      ...this.#texts,
      ...{ log: log.steps, dropped: log.dropped },
    };
  }

  readonly #standing = (): string => `${this.status} ${this.#state}`;

  #define(definition: string | null): void {
    const read = definition === null ? { machine: null } : readDefinition(definition);
    this.#machine = 'machine' in read ? read.machine : null;
    this.#drawn = isOperation(this.#machine);
    this.#missing = 'problem' in read ? read.problem : null;
    // The boxes take several times the room of the text that they were read from.
    this.#definitionBytes = this.#machine === null ? 0 : 6 * (definition?.length ?? 0);
  }

  #stand({ status, value, tags, ...parts }: Snapshot): void {
    this.status = status;
    this.#state = stateText(value);
    this.#lit = this.#machine === null || value === undefined ? [] : litOf(this.#machine, value);
    this.#tags = tags.slice(0, MAX_TAGS).map((tag) => clip(tag, MAX_NAME));
    const text = (part: unknown) => jsonText(part, MAX_CONTEXT);
    this.#texts = { context: text(parts.context), output: text(parts.output), error: text(parts.error) };
  }
}
