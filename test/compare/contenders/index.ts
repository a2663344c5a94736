/** Loads the contenders that are installed. A package that cannot be loaded is named, and the others play on. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CONTENDERS, type Contender, type ContenderName } from './contender.ts';

interface Entry {
  /** Whose version is shown. */
  readonly packages: readonly string[];
  load(version: string): Promise<Contender>;
}

const ENTRIES: Readonly<Record<ContenderName, Entry>> = {
  toolop: { packages: [], load: async (version) => (await import('./toolop.ts')).toolop(version) },
  'ext-tasks v1': {
    packages: ['@modelcontextprotocol/ext-tasks', '@modelcontextprotocol/client'],
    load: async (version) => (await import('./ext-tasks-v1.ts')).extTasksV1(version),
  },
  'ext-tasks v2': {
    packages: ['@modelcontextprotocol/ext-tasks', '@modelcontextprotocol/client'],
    load: async (version) => (await import('./ext-tasks-v2.ts')).extTasksV2(version),
  },
  callToolStream: {
    packages: ['@modelcontextprotocol/sdk'],
    load: async (version) => (await import('./call-tool-stream.ts')).callToolStream(version),
  },
  'google-gax': {
    packages: ['google-gax'],
    load: async (version) => (await import('./google-gax.ts')).googleGax(version),
  },
};

export interface NotLoaded {
  readonly name: ContenderName;
  readonly why: string;
}

export interface Loaded {
  readonly contenders: readonly Contender[];
  readonly missing: readonly NotLoaded[];
}

export async function loadContenders(): Promise<Loaded> {
  const contenders: Contender[] = [];
  const missing: NotLoaded[] = [];
  for (const name of CONTENDERS) {
    const { packages, load } = ENTRIES[name];
    try {
      contenders.push(await load(packages.map(versionOf).join(' on client ')));
    } catch (error) {
      missing.push({ name, why: `${packages.join(' and ')}: ${(error as Error).message.split('\n')[0]}` });
    }
  }
  return { contenders, missing };
}

/** The package's own `package.json`, which it may not export: looked for above its entry. */
function versionOf(name: string): string {
  for (const base of [process.cwd(), dirname(fileURLToPath(import.meta.url))]) {
    for (let at = base; at !== dirname(at); at = dirname(at)) {
      try {
        return JSON.parse(readFileSync(join(at, 'node_modules', name, 'package.json'), 'utf8')).version;
      } catch {}
    }
  }
  throw new Error(`${name} is not installed`);
}
