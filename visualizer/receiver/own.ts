/** The machine of operations, sent by whatever program: its chart is drawn already, and need not be made of boxes. */
import { describedDefinition } from '../../machines/tool-operation/descriptions.ts';
import { readDefinition } from './definition.ts';
import type { StateView } from './view.ts';

/** What the drawing knows of a machine: which states there are, and which are inside of which. Senders sort their names. */
const shapeOf = ({ key, states }: StateView): unknown => [
  key,
  [...states].sort((one, other) => (one.key < other.key ? -1 : 1)).map(shapeOf),
];

const own = readDefinition(JSON.stringify(describedDefinition));
const shape = 'machine' in own && own.machine ? JSON.stringify(shapeOf(own.machine)) : null;

export const isOperation = (machine: StateView | null): boolean =>
  machine !== null && JSON.stringify(shapeOf(machine)) === shape;
