import { Redis } from 'ioredis';
import type { Durability } from '../script-host.ts';
import type { RedisAddress } from './address.ts';
import type { RedisClient } from './client.ts';
import type { WaitForReplicas } from './replicas.ts';
import { replicationOf } from './replicas.ts';

const SETTINGS = [
  'appendonly',
  'appendfsync',
  'no-appendfsync-on-rewrite',
  'maxmemory-policy',
  'min-replicas-to-write',
  'min-replicas-max-lag',
] as const;

type Settings = Readonly<Partial<Record<(typeof SETTINGS)[number], string>>>;

/** Reads the settings of every primary and says in words what each accident can lose; the weakest of them decides. */
export async function redisDurability(
  client: RedisClient,
  address: RedisAddress,
  where: string,
  waitForReplicas: WaitForReplicas,
): Promise<Durability> {
  const primaries = client instanceof Redis ? [client] : client.nodes('master');
  const seen = await Promise.all(
    primaries.map(async (primary) => ({
      settings: await readSettings(primary),
      replicas: await connectedReplicas(primary),
    })),
  );
  const what = KINDS[address.kind](primaries.length);
  const worded = seen.map(({ settings, replicas }) => words(settings, replicas, waitForReplicas));
  const statement = [...new Set(worded.map(({ statement }) => statement))].join(' Another of its primaries: ');
  const [first] = seen;
  return {
    acceptable: worded.length > 0 && worded.every(({ acceptable }) => acceptable),
    statement: `${what} at ${where}: ${worded.length === 0 ? 'no primary answers.' : statement}`,
    facts:
      client instanceof Redis && first !== undefined
        ? { settings: first.settings, replicas: first.replicas }
        : { primaries: seen.map(({ settings, replicas }) => ({ settings, replicas })) },
  };
}

const KINDS: Readonly<Record<RedisAddress['kind'], (primaries: number) => string>> = {
  single: () => 'Redis',
  cluster: (primaries) => `Redis Cluster (${primaries} primaries)`,
  sentinel: () => 'Redis under Sentinel',
};

function words(
  settings: Settings | null,
  replicas: number | null,
  waitForReplicas: WaitForReplicas,
): { acceptable: boolean; statement: string } {
  if (settings === null) {
    return {
      acceptable: false,
      statement: 'It does not show its settings (CONFIG is forbidden): what an accident can lose is unknown.',
    };
  }
  const evicts = (settings['maxmemory-policy'] ?? 'noeviction') !== 'noeviction';
  const statement = [
    killWords(settings),
    powerWords(settings),
    failoverWords(settings, replicas, waitForReplicas),
    evicts ? `Memory pressure evicts records (maxmemory-policy ${settings['maxmemory-policy']}).` : '',
  ];
  return {
    acceptable: settings.appendonly === 'yes' && !evicts,
    statement: statement.filter((sentence) => sentence !== '').join(' '),
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

function failoverWords(settings: Settings, replicas: number | null, waitForReplicas: WaitForReplicas): string {
  if (replicas === 0 && typeof waitForReplicas !== 'number') return 'There is no replica to fail over to.';
  const atLeast = Number(settings['min-replicas-to-write'] ?? '0');
  const window =
    atLeast > 0
      ? `those of the last ${settings['min-replicas-max-lag']} s at most in most cases (min-replicas-to-write ${atLeast})`
      : 'all that an old primary took after it was replaced (min-replicas-to-write is 0)';
  const confirmed =
    waitForReplicas === 'none' || waitForReplicas === 0
      ? 'no step waits for a replica (waitForReplicas none)'
      : 'creating, sending and accepting wait for a replica, the other steps do not';
  return `A failover can lose acknowledged steps: ${window}; ${confirmed}. What is lost is noticed by whoever has seen it, and the partition then waits for an operator.`;
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
  const info = await redis.info('replication').catch(() => null);
  return info === null ? null : replicationOf(info).replicas;
}
