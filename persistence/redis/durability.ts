import type { Redis } from 'ioredis';
import type { Durability } from '../script-host.ts';

const SETTINGS = [
  'appendonly',
  'appendfsync',
  'no-appendfsync-on-rewrite',
  'maxmemory-policy',
  'min-replicas-to-write',
  'min-replicas-max-lag',
] as const;

type Settings = Readonly<Partial<Record<(typeof SETTINGS)[number], string>>>;

/** Reads the server's own settings and says in words what each accident can lose. */
export async function redisDurability(redis: Redis, where: string): Promise<Durability> {
  const settings = await readSettings(redis);
  const replicas = await connectedReplicas(redis);
  if (settings === null) {
    return {
      acceptable: false,
      statement: `Redis at ${where} does not show its settings (CONFIG is forbidden): what an accident can lose is unknown.`,
      facts: { settings: null, replicas },
    };
  }
  const evicts = (settings['maxmemory-policy'] ?? 'noeviction') !== 'noeviction';
  const persistent = settings.appendonly === 'yes';
  const statement = [
    killWords(settings),
    powerWords(settings),
    failoverWords(settings, replicas),
    evicts ? `Memory pressure evicts records (maxmemory-policy ${settings['maxmemory-policy']}).` : '',
  ];
  return {
    acceptable: persistent && !evicts,
    statement: `Redis at ${where}: ${statement.filter((sentence) => sentence !== '').join(' ')}`,
    facts: { settings, replicas },
  };
}

function killWords({ appendonly }: Settings): string {
  return appendonly === 'yes'
    ? 'A killed server loses nothing acknowledged.'
    : 'A killed server loses everything since its last snapshot (appendonly is off).';
}

function powerWords(settings: Settings): string {
  if (settings.appendonly !== 'yes') return 'So does a power cut.';
  const rewrite =
    settings['no-appendfsync-on-rewrite'] === 'yes'
      ? ' While the log is rewritten, more can be lost (no-appendfsync-on-rewrite yes).'
      : '';
  switch (settings.appendfsync) {
    case 'always':
      return `A power cut loses nothing acknowledged, if the disk keeps what it confirmed.${rewrite}`;
    case 'everysec':
      return `A power cut loses up to about two seconds of acknowledged steps (appendfsync everysec).${rewrite}`;
    default:
      return 'A power cut loses what the operating system had not written yet (appendfsync no).';
  }
}

function failoverWords(settings: Settings, replicas: number | null): string {
  if (replicas === 0) return 'There is no replica to fail over to.';
  const atLeast = Number(settings['min-replicas-to-write'] ?? '0');
  const window =
    atLeast > 0
      ? `those of the last ${settings['min-replicas-max-lag']} s at most in most cases (min-replicas-to-write ${atLeast})`
      : 'all that an old primary took after it was replaced (min-replicas-to-write is 0)';
  return `A failover can lose acknowledged steps: ${window}.`;
}

/** `null`: the server forbids to ask, as managed ones do. */
async function readSettings(redis: Redis): Promise<Settings | null> {
  try {
    const flat = (await redis.config('GET', ...SETTINGS)) as string[];
    return Object.fromEntries(
      SETTINGS.flatMap((name) => {
        const at = flat.indexOf(name);
        return at === -1 ? [] : [[name, flat[at + 1]]];
      }),
    );
  } catch (error) {
    if (error instanceof Error && /^(ERR|NOPERM)/.test(error.message)) return null;
    throw error;
  }
}

async function connectedReplicas(redis: Redis): Promise<number | null> {
  const count = /^connected_slaves:(\d+)/m.exec(await redis.info('replication').catch(() => ''))?.[1];
  return count === undefined ? null : Number(count);
}
