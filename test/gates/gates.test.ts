/** The gates in small sizes: each is played whole, and its verdict is a real one. The full sizes: `npm run gates`. */
import { describe, expect, it } from 'vitest';
import { GATES, QUICK } from './gate.ts';
import { runGates } from './run.ts';

describe('the gates of the brief, in small sizes', () => {
  it.each(GATES)('%s', { timeout: 120_000 }, async (name) => {
    const { signal } = new AbortController();
    const [verdict] = await runGates([name], { sizes: QUICK, seed: 1, signal, progress: () => undefined });
    expect(verdict).toMatchObject({ gate: name, pass: true });
    expect(verdict?.count).toBeGreaterThan(0);
  });
});
