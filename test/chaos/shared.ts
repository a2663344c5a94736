/** What the executors share: a ledger of their own that suffers too, a cluster with a failover, or one that runs already. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { type ClusterNode, type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { NAMESPACE } from './protocol.ts';

/** So many steps a master takes that its replica does not hear of, before it dies; it waits for them so long, ms. */
const LOST_STEPS = 20;
const APART_MS = 10_000;
/** How long a master is dead, ms. */
const DEAD_MS = 3_000;

export interface Shared {
  readonly address: string;
  /** Whatever is in it was put there by this run. */
  readonly isOwn: boolean;
  /** One that is killed and stopped. */
  readonly redis: RedisServer | null;
  /** Where those who use it remember which history they have seen; `null`: in memory. */
  readonly historyFile: string | null;
  /** Answers what went wrong. `command`: of a ledger that runs already. */
  failover(command: string | null): Promise<string | null>;
  close(): Promise<void>;
}

/** @param ledger `redis`, `embedded`, `cluster`, or an address */
export async function startShared(ledger: string): Promise<Shared> {
  const directory = mkdtempSync(join(tmpdir(), 'toolop-chaos-'));
  const common = { isOwn: true, redis: null, historyFile: null, failover: commanded };
  const close = async () => rmSync(directory, { recursive: true, force: true });
  if (ledger === 'redis') {
    const redis = await startRedis({ dir: directory });
    return { ...common, address: redis.url, redis, close: () => redis.stop().then(close) };
  }
  if (ledger === 'embedded') return { ...common, address: join(directory, 'ledger.db'), close };
  const historyFile = join(directory, 'history.json');
  if (ledger !== 'cluster') return { ...common, address: ledger, isOwn: false, historyFile, close };
  const cluster = await startRedisCluster({
    replicasEach: 1,
    // What is killed here is processes; and a machine that is busy is not to look like a dead master.
    args: ['--appendfsync', 'everysec', '--cluster-node-timeout', '2000'],
  });
  return {
    ...{ ...common, address: cluster.url, historyFile },
    failover: () => loseMaster(cluster).then(() => null),
    close: () => cluster.stop().then(close),
  };
}

/** The worst that an asynchronous failover does: the master has acknowledged steps that the replica, which takes over, has not. */
async function loseMaster(cluster: RedisCluster): Promise<void> {
  const dying = await cluster.masterOf(await cluster.slotOf(`toolop:1:{${NAMESPACE}/p00}:ops`));
  const successor = await cluster.replicaOf(dying);
  const { rejoin } = await cluster.part(successor, dying);
  const before = await stepsOf(dying);
  for (const end = Date.now() + APART_MS; Date.now() < end && (await stepsOf(dying)) < before + LOST_STEPS; )
    await sleep(50);
  await dying.server.kill('SIGKILL');
  await rejoin();
  await sleep(DEAD_MS);
  await cluster.settled();
  await dying.server.restart();
}

/** Steps that the partitions of a node have counted. */
async function stepsOf({ admin }: ClusterNode): Promise<number> {
  let sum = 0;
  for (const key of await admin.keys(`toolop:1:{${NAMESPACE}/*}:mark`))
    sum += Number((await admin.hget(key, 'mark'))?.split(' ')[1] ?? 0);
  return sum;
}

async function commanded(command: string | null): Promise<string | null> {
  if (command === null) return 'a failover of this ledger needs a command';
  const child = spawn(command, { shell: true, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? null : `\`${command}\` ended with ${code}`;
}
