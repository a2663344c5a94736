import type { ChartState } from './model.ts';

const HEIGHT = 30;
/** Of a bold monospaced letter of 12 px. */
const CHARACTER = 7.4;

/** How much room a state needs for its name. */
export const sizeOf = ({ key }: ChartState): { readonly width: number; readonly height: number } => ({
  width: Math.ceil(key.length * CHARACTER) + 24,
  height: HEIGHT,
});
