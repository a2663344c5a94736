import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/** The scripts, by the names of their files. Each file says what it takes and answers; each is one atomic step in one slot. */
const scriptNames = [
  'answer',
  'ask',
  'beat',
  'finish',
  'lookup',
  'note',
  'overdue',
  'send',
  'submit',
  'take-over',
  'want-cancel',
] as const;

export type ScriptName = (typeof scriptNames)[number];
export type RunScript = (
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

const read = (file: string): string => readFileSync(new URL(`./scripts/${file}.lua`, import.meta.url), 'utf8');

/** Defines the scripts on a connection. */
export function scriptsOn(redis: Redis): RunScript {
  const prelude = read('prelude');
  const commands = new Map<string, (...args: (string | number)[]) => Promise<unknown>>();
  for (const name of scriptNames) {
    const source = read(name);
    // `#!lua` stays the first line.
    const end = source.indexOf('\n');
    const command = `toolopServer_${name}`;
    redis.defineCommand(command, { lua: `${source.slice(0, end)}\n${prelude}${source.slice(end)}` });
    commands.set(name, Reflect.get(redis, command).bind(redis));
  }
  return async (name, keys, args) => {
    const command = commands.get(name);
    if (command === undefined) throw new Error(`no script ${name}`);
    return command(keys.length, ...keys, ...args);
  };
}
