import { queryObjects } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { untilLeft } from '../../visualizer/cli/until-left.ts';

class State {}
const silence = (): Promise<never> => new Promise(() => undefined);

describe('following until it is left', () => {
  it('keeps no state that it gave, however long it goes on', async () => {
    const many = 500;
    async function* states(): AsyncGenerator<State> {
      for (let index = 0; index < many; index++) yield new State();
      await silence();
    }
    const leaving = new AbortController();
    let given = 0;
    let kept = many;
    for await (const _ of untilLeft(states(), leaving.signal)) {
      given++;
      if (given < many) continue;
      kept = queryObjects(State, { format: 'count' });
      leaving.abort();
    }
    expect(given).toBe(many);
    expect(kept).toBeLessThan(10);
  });

  it('ends while the next state is still being read, and hears nothing of how that ends', async () => {
    const leaving = new AbortController();
    let fail: (error: Error) => void = () => undefined;
    async function* states(): AsyncGenerator<State> {
      yield new State();
      await new Promise((_, reject) => {
        fail = reject;
      });
    }
    const seen: State[] = [];
    for await (const state of untilLeft(states(), leaving.signal)) {
      seen.push(state);
      setImmediate(() => leaving.abort());
    }
    fail(new Error('the ledger went away'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toHaveLength(1);
  });

  it('gives nothing to whoever has left already', async () => {
    async function* states(): AsyncGenerator<State> {
      yield new State();
    }
    const seen: State[] = [];
    for await (const state of untilLeft(states(), AbortSignal.abort())) seen.push(state);
    expect(seen).toEqual([]);
  });
});
