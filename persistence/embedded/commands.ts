import type Database from 'libsql';
import { type CallCommand, type CommandReply, WrongType } from './lua.ts';

/** Hashes and sorted sets as tables; a text is a hash with one field that has no name. Everything is bytes, as in Redis (and this driver cuts texts at a NUL). */
export const TABLES = `
  CREATE TABLE IF NOT EXISTS hash (
    key BLOB NOT NULL, field BLOB NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (key, field)
  );
  CREATE TABLE IF NOT EXISTS zset (
    key BLOB NOT NULL, member BLOB NOT NULL, score REAL NOT NULL,
    PRIMARY KEY (key, member)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS zset_by_score ON zset (key, score, member);
`;

const NAMELESS = Buffer.alloc(0);

type Command = (args: readonly Buffer[]) => CommandReply;

/** The Redis commands that the scripts use, over the two tables; the caller holds the transaction. */
export function createCommands(db: Database.Database): CallCommand {
  const all = (sql: string): ((...values: (Buffer | number)[]) => unknown[][]) => {
    const statement = db.prepare(sql).raw();
    return (...values) => statement.all(values) as unknown[][];
  };
  const change = (sql: string): ((...values: (Buffer | number)[]) => number) => {
    const statement = db.prepare(sql);
    return (...values) => statement.run(values).changes;
  };

  const first = (sql: string): ((...values: Buffer[]) => unknown) => {
    const statement = db.prepare(sql).raw();
    return (...values) => (statement.get(values) as unknown[] | undefined)?.[0];
  };

  const field = first('SELECT value FROM hash WHERE key = ? AND field = ?');
  const fields = all('SELECT field FROM hash WHERE key = ?');
  const entries = all('SELECT field, value FROM hash WHERE key = ?');
  const setField = change(
    'INSERT INTO hash (key, field, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const removeField = change('DELETE FROM hash WHERE key = ? AND field = ?');
  const exists = first(
    'SELECT 1 WHERE EXISTS (SELECT 1 FROM hash WHERE key = ?1) OR EXISTS (SELECT 1 FROM zset WHERE key = ?1)',
  );
  const score = first('SELECT score FROM zset WHERE key = ? AND member = ?');
  const size = first('SELECT count(*) FROM zset WHERE key = ?');
  const setScore = change(
    'INSERT INTO zset (key, member, score) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET score = excluded.score',
  );
  const removeFields = change('DELETE FROM hash WHERE key = ?');
  const fieldSize = first('SELECT length(value) FROM hash WHERE key = ? AND field = ?');
  const removeMember = change('DELETE FROM zset WHERE key = ? AND member = ?');
  const range = all(
    'SELECT member, score FROM zset WHERE key = ? AND score BETWEEN ? AND ? ORDER BY score, member LIMIT ? OFFSET ?',
  );
  const rangeBackwards = all(
    'SELECT member, score FROM zset WHERE key = ? AND score BETWEEN ? AND ? ORDER BY score DESC, member DESC LIMIT ? OFFSET ?',
  );

  const get = (key: Buffer, name: Buffer): CommandReply => (field(key, name) as Buffer | undefined) ?? null;

  const commands: Readonly<Record<string, Command>> = {
    EXISTS: ([key]) => (exists(bytesOf(key)) === undefined ? 0 : 1),
    GET: ([key]) => {
      const text = get(bytesOf(key), NAMELESS);
      if (text === null && exists(bytesOf(key)) !== undefined) throw new WrongType('WRONGTYPE the key holds no text');
      return text;
    },
    HDEL: ([key, name]) => removeField(bytesOf(key), bytesOf(name)),
    HGET: ([key, name]) => get(bytesOf(key), bytesOf(name)),
    HGETALL: ([key]) => entries(bytesOf(key)).flat() as Buffer[],
    HKEYS: ([key]) => fields(bytesOf(key)).flat() as Buffer[],
    HMGET: ([key, ...names]) => names.map((name) => get(bytesOf(key), name)),
    HSET: ([key, ...rest]) => {
      for (let i = 0; i < rest.length; i += 2) setField(bytesOf(key), bytesOf(rest[i]), bytesOf(rest[i + 1]));
      return rest.length / 2;
    },
    HSTRLEN: ([key, name]) => (fieldSize(bytesOf(key), bytesOf(name)) as number | undefined) ?? 0,
    SET: ([key, text]) => {
      removeFields(bytesOf(key));
      return setField(bytesOf(key), NAMELESS, bytesOf(text));
    },
    TIME: () => {
      const now = Date.now();
      return [Buffer.from(String(Math.floor(now / 1000))), Buffer.from(String((now % 1000) * 1000))];
    },
    /** Of hashes only: no script removes a whole sorted set. */
    UNLINK: ([key]) => removeFields(bytesOf(key)),
    ZADD: ([key, at, member]) => setScore(bytesOf(key), bytesOf(member), numberOf(at)),
    ZCARD: ([key]) => size(bytesOf(key)) as number,
    ZRANGEBYSCORE: ([key, min, max, ...options]) =>
      membersOf(options, (count, offset) => range(bytesOf(key), numberOf(min), numberOf(max), count, offset)),
    ZREM: ([key, member]) => removeMember(bytesOf(key), bytesOf(member)),
    ZREVRANGEBYSCORE: ([key, max, min, ...options]) =>
      membersOf(options, (count, offset) => rangeBackwards(bytesOf(key), numberOf(min), numberOf(max), count, offset)),
    ZSCORE: ([key, member]) => {
      const found = score(bytesOf(key), bytesOf(member));
      return found === undefined ? null : Buffer.from(String(found));
    },
  };

  return (name, args) => {
    const command = commands[name];
    if (!command) throw new Error(`the embedded host has no command ${name}`);
    return command(args);
  };
}

function membersOf(
  options: readonly Buffer[],
  range: (count: number, offset: number) => readonly unknown[][],
): readonly Buffer[] {
  const words = options.map(String);
  const limit = words.indexOf('LIMIT');
  const rows = limit === -1 ? range(-1, 0) : range(Number(words[limit + 2]), Number(words[limit + 1]));
  if (!words.includes('WITHSCORES')) return rows.map((row) => row[0] as Buffer);
  return rows.flatMap(([member, at]) => [member as Buffer, Buffer.from(String(at))]);
}

function bytesOf(argument: Buffer | undefined): Buffer {
  if (argument === undefined) throw new Error('a command of a script lacks an argument');
  return argument;
}

function numberOf(argument: Buffer | undefined): number {
  const digits = String(bytesOf(argument));
  if (digits === '-inf') return Number.NEGATIVE_INFINITY;
  if (digits === '+inf') return Number.POSITIVE_INFINITY;
  const value = Number(digits);
  if (digits === '' || Number.isNaN(value)) throw new Error(`a script uses "${digits}" as a number`);
  return value;
}
