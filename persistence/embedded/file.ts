import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { LedgerIncompatible } from '../../machines/operation-ledger.ts';
import { TABLES } from './commands.ts';

/** Marks the file as a ledger ("tlop"), so that no other program's database is touched. */
const APPLICATION_ID = 0x746c6f70;
/** The version of the tables. */
const TABLES_VERSION = 1;

/** How many announcements stay for other processes to see. */
export const CHANGES_KEPT = 4096;

/** Opens the file and makes its tables where they are missing. May throw SQLITE_BUSY: try again then. */
export function openFile(path: string): Database.Database {
  mkdirSync(dirname(path), { recursive: true });
  const db = new Database(path);
  try {
    // Waiting for other processes is done outside, where it does not stop this one.
    db.exec('PRAGMA busy_timeout = 10');
    refuseForeign(db, path);
    db.exec('PRAGMA journal_mode = WAL');
    // Every commit is synced before it is acknowledged.
    db.exec('PRAGMA synchronous = FULL');
    db.exec('BEGIN IMMEDIATE');
    db.exec(TABLES);
    db.exec('CREATE TABLE IF NOT EXISTS change (seq INTEGER PRIMARY KEY, operation TEXT NOT NULL)');
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${TABLES_VERSION}`);
    db.exec('COMMIT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function pragma(db: Database.Database, name: string): unknown {
  const rows = db.prepare(`PRAGMA ${name}`).raw().all([]) as unknown[][];
  return rows[0]?.[0];
}

function refuseForeign(db: Database.Database, path: string): void {
  const version = readPragma(db, 'user_version', path);
  const application = pragma(db, 'application_id');
  const tables = db.prepare('SELECT count(*) FROM sqlite_master').raw().all([]) as unknown[][];
  if (application !== APPLICATION_ID && Number(tables[0]?.[0]) > 0) {
    throw new LedgerIncompatible(`${path} is another program's database; it was left untouched. Give another path`);
  }
  if (Number(version) > TABLES_VERSION) {
    throw new LedgerIncompatible(
      `${path} was written by a newer version (tables ${version}, this one knows ${TABLES_VERSION}); it was left untouched. Update this program`,
    );
  }
}

function readPragma(db: Database.Database, name: string, path: string): unknown {
  try {
    return pragma(db, name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_NOTADB') {
      throw new LedgerIncompatible(`${path} is not a ledger file; it was left untouched. Give another path`);
    }
    throw error;
  }
}
