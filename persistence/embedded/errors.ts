import { LedgerUnavailable } from '../../machines/operation-ledger.ts';

/** What the codes of SQLite and of the file system mean for somebody who runs a ledger, and what to do. */
const ADVICE: readonly (readonly [prefix: string, advice: string])[] = [
  ['SQLITE_BUSY', 'other processes kept it locked for too long. Stop what holds it, or use Redis for many processes'],
  ['SQLITE_LOCKED', 'it is locked. Try again'],
  ['SQLITE_FULL', 'the disk is full. Free some space'],
  ['SQLITE_READONLY', 'it cannot be written. Check the rights of the file and of its directory'],
  ['SQLITE_CANTOPEN', 'it cannot be opened. Check that it is a file, and that it and its directory may be written'],
  ['SQLITE_PERM', 'it may not be opened. Check its rights'],
  ['ENOTDIR', 'a part of its path is no directory. Give another path'],
  ['EACCES', 'its directory may not be made. Check the rights'],
  ['EPERM', 'its directory may not be made. Check the rights'],
  ['EROFS', 'its disk is read-only. Give another path'],
  ['ENOSPC', 'the disk is full. Free some space'],
  ['SQLITE_IOERR', 'the disk gave an error. Look at the system log'],
  ['SQLITE_CORRUPT', 'it is damaged. Keep a copy and restore a backup'],
];

export function codeOf(error: unknown): string {
  // The driver's own error for a file that cannot be opened has only words.
  if (error instanceof Error && error.message.startsWith('ConnectionFailed')) return 'SQLITE_CANTOPEN';
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

/** Turns the errors of a file into a `LedgerUnavailable`; anything else is a bug and stays what it is. */
export function unavailable(error: unknown, path: string): unknown {
  const code = codeOf(error);
  const advice = ADVICE.find(([prefix]) => code.startsWith(prefix))?.[1];
  if (advice === undefined) return error;
  return new LedgerUnavailable(`the ledger file ${path} did not take the step: ${advice}. (${code})`, { cause: error });
}
