/** Ports that a user names, and what is said where one cannot be had. */
import { InvalidArgumentError } from 'commander';
import { isLoopback } from '../loopback.ts';
import { usage } from './failure.ts';

export function portNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('it is a number from 0 to 65535.');
  return value;
}

/** A port, or the address of a receiver on this machine. */
export function inspectTarget(text: string): number | string {
  if (!text.includes(':')) return portNumber(text);
  const { protocol, hostname } = URL.canParse(text) ? new URL(text) : { protocol: '', hostname: '' };
  if (protocol !== 'ws:' || !isLoopback(hostname)) {
    throw new InvalidArgumentError('it is a port, or an address on this machine, as ws://127.0.0.1:8080.');
  }
  return text;
}

/** The error of `listen`, in words. */
export function portTrouble(error: unknown, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return usage(`port ${port} is in use`, 'leave the port out for one that is free, or give another one');
  if (code === 'EACCES') return usage(`port ${port} may not be opened by this user`, 'give one above 1023');
  return error;
}
