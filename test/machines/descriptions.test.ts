import { describe, expect, it } from 'vitest';
import { describedDefinition } from '../../machines/tool-operation/descriptions.ts';

interface Shown {
  readonly description?: string;
  readonly on?: Readonly<Record<string, unknown>>;
  readonly states?: Readonly<Record<string, Shown>>;
}

/** Every state and transition of the definition that has nothing to say for itself. */
function silentParts(shown: Shown, path: string): string[] {
  const here = shown.description ? [] : [path];
  const transitions = Object.entries(shown.on ?? {}).flatMap(([event, value]) =>
    [value]
      .flat()
      .filter((transition) => !(transition as Shown).description)
      .map(() => `${path} on ${event}`),
  );
  const inside = Object.entries(shown.states ?? {}).flatMap(([key, state]) => silentParts(state, `${path}.${key}`));
  return [...here, ...transitions, ...inside];
}

describe('the definition that the inspector draws', () => {
  it('explains every state and every transition', () => {
    expect(silentParts(describedDefinition as Shown, 'toolOperation')).toEqual([]);
  });
});
