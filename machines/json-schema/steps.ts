/**
 * How many steps one check may take. Text and patterns run in linear time, but a schema can ask for more than that: every
 * definition may refer twice to the next, and `uniqueItems` compares each item with each. Ajv's code is made to count:
 * every call of a validator, every turn of a loop, and what a pattern costs.
 */
export const MAX_STEPS = 10_000_000;

export class Steps {
  left = MAX_STEPS;
  readonly over = new Error('checking it takes too many steps');

  begin(): void {
    this.left = MAX_STEPS;
  }

  spend(count: number): void {
    this.left -= count;
    if (this.left < 0) throw this.over;
  }
}

/** A string of the code (skipped), the head of a validator, a loop, and a loop of a form that is not known. */
const PLACES =
  /"(?:[^"\\]|\\.)*"|function validate\d+\(data, \{[^\n]*?\}=\{\}\)\{|\bfor\((?:[^"(){}]|"(?:[^"\\]|\\.)*")*\)\{|\bfor\s*\(/g;
const COUNT = 'if(--self.steps.left<0)throw self.steps.over;';

/** Ajv's code for a validator, with a step taken at every call and every turn. Throws where it could not be put. */
export function counted(code: string): string {
  let validators = 0;
  const result = code.replace(PLACES, (place) => {
    if (place.startsWith('"')) return place;
    if (!place.endsWith('{')) throw new Error('the steps of its check cannot be counted');
    if (place.startsWith('function')) validators++;
    return `${place}${COUNT}`;
  });
  if (validators === 0) throw new Error('the steps of its check cannot be counted');
  return result;
}
