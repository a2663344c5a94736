import { setTimeout as delay } from 'node:timers/promises';

/** The real parts went another way than the model, or cannot be made to go it. */
export class Divergence extends Error {
  override readonly name = 'Divergence';
}

/** How long real parts have for one step, ms. */
export const PATIENCE_MS = 8_000;

/** Looks until it is so; a `Divergence` when it never is. */
export async function wait(look: () => Promise<boolean>, otherwise: string | (() => string)): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await look())) {
    if (performance.now() > deadline) throw new Divergence(typeof otherwise === 'string' ? otherwise : otherwise());
    await delay(2);
  }
}
