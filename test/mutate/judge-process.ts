/** The process of a judge: asked by message, one mutant after the other. */
import { mutantsOf, untouched } from './catalogue.ts';
import { SourceCopy } from './copy.ts';
import { Asked, type Case } from './judge.ts';
import type { Kind, Mutant } from './mutant.ts';

let copy: SourceCopy | null = null;
const copyOf = () => {
  copy ??= new SourceCopy();
  return copy;
};
const known = new Map<Kind, ReadonlyMap<string, Mutant>>();

// Whoever asked may be gone, or interrupted together with this process.
process.on('disconnect', () => process.exit());
process.on('SIGINT', () => process.exit());
process.on('SIGTERM', () => process.exit());
process.on('exit', () => copy?.close());

process.on('message', (message) => {
  killerOf(Asked.parse(message)).then(
    (killer) => process.send?.({ killer, error: null }),
    (error: Error) => process.send?.({ killer: null, error: error.message }),
  );
});

async function killerOf({ kind, name }: Case): Promise<string | null> {
  if (name === null) return untouched(kind, copyOf).killer();
  const ofKind = known.get(kind) ?? new Map(mutantsOf(kind, copyOf).map((mutant) => [mutant.name, mutant]));
  known.set(kind, ofKind);
  const mutant = ofKind.get(name);
  if (!mutant) throw new Error('there is no such mutant');
  return mutant.killer();
}
