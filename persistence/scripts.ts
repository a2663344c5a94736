import { readFileSync } from 'node:fs';

/** The scripts, by the names of their files. Each file says what it takes and answers. */
export const scriptNames = [
  'accept',
  'accepted',
  'ack-ready',
  'audit',
  'claim',
  'clock',
  'commit',
  'create',
  'entries',
  'heartbeat',
  'lease-ready',
  'list',
  'load',
  'open',
  'own-task',
  'peek',
  'permit',
  'processes',
  'raise',
  'read',
  'release',
  'renew',
  'scopes',
  'switch',
  'waiting',
] as const;

export type ScriptName = (typeof scriptNames)[number];

export interface Script {
  readonly name: ScriptName;
  /** The whole text for Redis: `#!lua` line, prelude, body. */
  readonly text: string;
  readonly writes: boolean;
}

const read = (file: string): string => readFileSync(new URL(`./scripts/${file}.lua`, import.meta.url), 'utf8');

let loaded: ReadonlyMap<ScriptName, Script> | undefined;

/** All scripts, read once. */
export function loadScripts(): ReadonlyMap<ScriptName, Script> {
  loaded ??= new Map(scriptNames.map((name) => [name, compose(name, read(name), read('prelude'))]));
  return loaded;
}

function compose(name: ScriptName, source: string, prelude: string): Script {
  const end = source.indexOf('\n');
  const shebang = source.slice(0, end);
  if (!shebang.startsWith('#!lua')) throw new Error(`the script ${name} does not begin with #!lua`);
  return { name, text: `${shebang}\n${prelude}${source.slice(end)}`, writes: !shebang.includes('no-writes') };
}
