/** Ports that a user names, and what is said where one cannot be had. */
import { InvalidArgumentError } from 'commander';
import { usage } from './failure.ts';

export function portNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('it is a number from 0 to 65535.');
  return value;
}

/** The error of `listen`, in words. */
export function portTrouble(error: unknown, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return usage(`port ${port} is in use`, 'leave the port out for one that is free, or give another one');
  if (code === 'EACCES') return usage(`port ${port} may not be opened by this user`, 'give one above 1023');
  return error;
}
