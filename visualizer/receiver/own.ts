/** The machine of operations, sent by whatever program: its chart is drawn already, and need not be made of boxes. */
import { describedDefinition } from '../../machines/tool-operation/descriptions.ts';
import { readDefinition } from './definition.ts';
import type { StateView } from './view.ts';

/** What the drawing knows of a machine: which states there are, and which are inside of which. Senders sort their names. */
const shapeOf = ({ key, states }: StateView): string => JSON.stringify([key, states.map(shapeOf).sort()]);

const own = readDefinition(JSON.stringify(describedDefinition));
const shape = 'machine' in own && own.machine ? shapeOf(own.machine) : null;

export const isOperation = (machine: StateView | null): boolean => machine !== null && shapeOf(machine) === shape;
