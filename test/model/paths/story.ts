/** What has become of the record of a walk so far: the real one, told by the chart that met its events. */
import type { Applied } from '../../../machines/actor/store.ts';
import type { OperationEvent } from '../../../machines/tool-operation/events.ts';
import { type OperationSnapshot, statePath } from '../../../machines/tool-operation/snapshot.ts';
import { Divergence } from './divergence.ts';
import { type TransitionName, transitionOf } from './transitions.ts';

export class Story {
  readonly taken: TransitionName[] = [];
  readonly states: string[] = [];
  /** Every event that was met, with the record that met it. */
  readonly met: { readonly snapshot: OperationSnapshot; readonly event: OperationEvent }[] = [];

  constructor(public snapshot: OperationSnapshot) {
    this.states.push(statePath(snapshot));
  }

  /** The transition that was taken; `null`: refused. */
  note(event: OperationEvent, outcome: Applied): TransitionName | null {
    this.met.push({ snapshot: this.snapshot, event });
    if (outcome.kind !== 'taken') return null;
    const name = transitionOf(this.snapshot, event);
    if (name === null) throw new Divergence(`${event.type} was taken, and the chart does not take it`);
    this.snapshot = outcome.opened.snapshot;
    this.taken.push(name);
    this.states.push(statePath(this.snapshot));
    return name;
  }
}
