import { readFileSync } from 'node:fs';

/** The scripts, by the names of their files. Each file says what it takes and answers. */
export const scriptNames = [
  'accept',
  'accepted',
  'ack-ready',
  'acknowledge',
  'aged',
  'audit',
  'certain',
  'claim',
  'clock',
  'commit',
  'create',
  'entries',
  'heartbeat',
  'history',
  'index-settled',
  'lease-ready',
  'list',
  'load',
  'note-refused',
  'old-records',
  'open',
  'own-task',
  'pack-records',
  'payload',
  'peek',
  'permit',
  'processes',
  'purge-receipts',
  'purge-records',
  'purge-tombstones',
  'raise',
  'raise-meta',
  'read',
  'release',
  'renew',
  'replace',
  'rollout',
  'rows',
  'scopes',
  'side',
  'sizes',
  'switch',
  'vitals',
  'waiting',
] as const;

export type ScriptName = (typeof scriptNames)[number];

/** The scripts that look at the history of their partition before anything else (prelude.lua). */
const OF_HISTORY: ReadonlySet<ScriptName> = new Set([
  'accept',
  'ack-ready',
  'claim',
  'commit',
  'create',
  'lease-ready',
  'raise',
  'rollout',
  'side',
  'switch',
]);

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
  const body = source.slice(end);
  const step = OF_HISTORY.has(name)
    ? `local refused = enter_history() if refused then return refused end local function step()${body}end\nreturn { step(), history.epoch, text(history.number) }\n`
    : body;
  return { name, text: `${shebang}\n${prelude}${step}`, writes: !shebang.includes('no-writes') };
}
