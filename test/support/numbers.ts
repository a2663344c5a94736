/** Numbers on the command lines of the checks. */
import { InvalidArgumentError } from 'commander';

const reader = (fits: (value: number) => boolean, wanted: string) => (text: string) => {
  const value = Number(text);
  if (!fits(value)) throw new InvalidArgumentError(`it is ${wanted}.`);
  return value;
};

export const positive = reader((value) => Number.isFinite(value) && value > 0, 'a number above 0');
export const natural = reader((value) => Number.isInteger(value) && value >= 0, 'a whole number from 0');
export const count = reader((value) => Number.isInteger(value) && value >= 1, 'a whole number from 1');
