/** Where what is aside lies: one below the other, at the right. */
import { sizeOf } from './measure.ts';
import type { Box, Chart, ChartState } from './model.ts';

const GAP = 22;
const HEAD = 38;
const PAD = 14;
/** For the words below what nearly every state leads to. */
const WORDS = 16;

export function stacked(chart: Chart, tops: readonly ChartState[], left: number, from: number) {
  const states: Record<string, Box> = {};
  let y = from;
  let width = 0;
  for (const top of tops) {
    const inside = chart.states.filter(({ parent }) => parent === top.path);
    const boxes = [top, ...inside].map((state) => sizeOf(state));
    const widest = Math.max(...boxes.map((each) => each.width)) + (inside.length > 0 ? 2 * PAD : 0);
    const start = y;
    if (inside.length === 0) y += sizeOf(top).height;
    else y += HEAD;
    for (const state of inside) {
      const size = sizeOf(state);
      states[state.path] = { ...size, x: left + Math.round((widest - size.width) / 2), y };
      y += size.height + PAD;
    }
    states[top.path] = { x: left, y: start, width: widest, height: y - start };
    y += GAP + (top.kind === 'final' ? 0 : WORDS);
    width = Math.max(width, widest);
  }
  return { states, width, height: y };
}
