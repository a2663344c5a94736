import type { Box, Point } from './model.ts';

/** The straight way from the edge of one box to the edge of another one; from a parent, out of its frame. */
export function direct(from: Box, to: Box): readonly [Point, Point] {
  return [border(from, to), border(to, from)];
}

/** From the top of a frame down to a box inside it. */
export function inward(frame: Box, box: Box): readonly [Point, Point] {
  const x = box.x + box.width - 12;
  return [
    [x, frame.y],
    [x, box.y],
  ];
}

function border(box: Box, other: Box): Point {
  const [x, y] = middle(box);
  const [otherX, otherY] = middle(other);
  const [dx, dy] = [otherX - x, otherY - y];
  if (dx === 0 && dy === 0) return [x, y];
  const scale = Math.min(box.width / 2 / Math.abs(dx || 1e-6), box.height / 2 / Math.abs(dy || 1e-6));
  return [Math.round(x + dx * scale), Math.round(y + dy * scale)];
}

const middle = ({ x, y, width, height }: Box): Point => [x + width / 2, y + height / 2];
