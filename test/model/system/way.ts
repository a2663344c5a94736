/** The name of a random way through the closed system: short enough to be told, and it is walked the same again. */

/** A way is a seed; or a seed, and somewhere on its way another step than the one that it draws: `7@12.3`. */
export interface Way {
  readonly seed: number;
  readonly turn: Turn | null;
}
interface Turn {
  /** How many steps come before it. */
  readonly after: number;
  /** Which of all that can happen there. */
  readonly choice: number;
}
export const wayText = ({ seed, turn }: Way): string => (turn ? `${seed}@${turn.after}.${turn.choice}` : `${seed}`);
/** `null`: it is none. */
export function readWay(text: string): Way | null {
  const [, seed, after, choice] = /^(\d{1,15})(?:@(\d{1,4})\.(\d{1,3}))?$/.exec(text) ?? [];
  if (seed === undefined) return null;
  return { seed: Number(seed), turn: after === undefined ? null : { after: Number(after), choice: Number(choice) } };
}
