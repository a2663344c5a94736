/** A Redis Cluster on loopback, from redis-server alone: masters, their replicas, moving of slots, failovers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort, type RedisServer, startRedis } from './redis.ts';

const SLOTS = 16_384;
/** After this long without a sign of life a master counts as gone, ms. */
const NODE_TIMEOUT_MS = 1_000;

export interface ClusterNode {
  readonly server: RedisServer;
  readonly admin: Redis;
  readonly id: string;
}

export interface RedisCluster {
  /** `redis+cluster://...` */
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  /** The node that is master of this slot now. */
  masterOf(slot: number): Promise<ClusterNode>;
  /** A replica of that node. */
  replicaOf(master: ClusterNode): Promise<ClusterNode>;
  slotOf(key: string): Promise<number>;
  /** Moves one slot with all its keys, as `redis-cli --cluster reshard` does. */
  moveSlot(slot: number, to: ClusterNode): Promise<void>;
  /** Breaks the link of a replica to its master, until `rejoin`: the master goes on, and the replica does not hear of it. */
  part(replica: ClusterNode, master: ClusterNode): Promise<{ rejoin(): Promise<void> }>;
  /** Waits until every running node says that the cluster is complete. */
  settled(): Promise<void>;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  readonly masters?: number;
  readonly replicasEach?: number;
  /** Further arguments of each redis-server. */
  readonly args?: readonly string[];
}

export async function startRedisCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicasEach = 0, args = [] } = options;
  const nodes: (ClusterNode & { readonly busPort: number })[] = [];
  const stop = async (): Promise<void> => {
    for (const { admin } of nodes) admin.disconnect();
    await Promise.all(nodes.map(({ server }) => server.stop()));
  };
  try {
    for (let i = 0; i < masters * (1 + replicasEach); i += 1) {
      const busPort = await freePort();
      const server = await startRedis({
        args: [
          ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
          ...['--cluster-node-timeout', String(NODE_TIMEOUT_MS), '--repl-diskless-sync-delay', '0'],
          ...['--cluster-allow-replica-migration', 'no', '--cluster-replica-validity-factor', '0', ...args],
        ],
      });
      const admin = new Redis(server.url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
      admin.on('error', () => undefined);
      nodes.push({ server, admin, busPort, id: String(await admin.call('CLUSTER', 'MYID')) });
    }
    await form(nodes, masters);
  } catch (error) {
    await stop();
    throw error;
  }

  const running = async (): Promise<ClusterNode[]> => {
    const alive = await Promise.all(nodes.map(({ server }) => isAlive(server.pid)));
    return nodes.filter((_, i) => alive[i]);
  };
  const byPort = (port: number): ClusterNode => {
    const found = nodes.find(({ server }) => server.port === port);
    if (found === undefined) throw new Error(`no node of this cluster has the port ${port}`);
    return found;
  };
  const settled = async (): Promise<void> => {
    const alive = await running();
    await eventually('the cluster is complete', async () => {
      const infos = await Promise.all(alive.map(({ admin }) => admin.call('CLUSTER', 'INFO')));
      return infos.every((info) => String(info).includes('cluster_state:ok'));
    });
  };
  const masterOf = async (slot: number): Promise<ClusterNode> => {
    for (const { admin } of await running()) {
      const ranges = (await admin.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
      const range = ranges.find(([first, last]) => first <= slot && slot <= last);
      if (range !== undefined) return byPort(range[2][1]);
    }
    throw new Error(`nobody has the slot ${slot}`);
  };
  return {
    url: `redis+cluster://${nodes.map(({ server }) => `127.0.0.1:${server.port}`).join(',')}`,
    nodes,
    settled,
    stop,
    masterOf,
    async replicaOf(master) {
      const lines = (await master.admin.call('CLUSTER', 'REPLICAS', master.id)) as string[];
      const port = /^\S+ [^:]+:(\d+)@/.exec(lines[0] ?? '')?.[1];
      return byPort(Number(port));
    },
    async part(replica, master) {
      // A password that nobody has: it is not let in again.
      await replica.admin.config('SET', 'masterauth', 'nobody has it');
      await master.admin.call('CLIENT', 'KILL', 'TYPE', 'REPLICA');
      const isAlone = async () => (await master.admin.info('replication')).includes('connected_slaves:0');
      await eventually('the link is down', isAlone);
      return { rejoin: async () => void (await replica.admin.config('SET', 'masterauth', '')) };
    },
    async slotOf(key) {
      return Number(await (nodes[0] as ClusterNode).admin.call('CLUSTER', 'KEYSLOT', key));
    },
    async moveSlot(slot, to) {
      const from = await masterOf(slot);
      await to.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
      await from.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
      for (;;) {
        const keys = (await from.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, 10)) as string[];
        if (keys.length === 0) break;
        await from.admin.call('MIGRATE', '127.0.0.1', to.server.port, '', 0, 5_000, 'KEYS', ...keys);
      }
      await to.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
      await from.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
    },
    async flush() {
      for (const { admin } of await running()) {
        if (String(await admin.info('replication')).includes('role:master')) await admin.flushall();
      }
    },
  };
}

async function form(nodes: readonly (ClusterNode & { readonly busPort: number })[], masters: number): Promise<void> {
  const share = Math.ceil(SLOTS / masters);
  for (const [i, { admin }] of nodes.entries()) {
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    if (i < masters) {
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', i * share, Math.min(SLOTS, (i + 1) * share) - 1);
    }
  }
  const [first, ...others] = nodes;
  for (const { server, busPort } of others) {
    await first?.admin.call('CLUSTER', 'MEET', '127.0.0.1', server.port, busPort);
  }
  await eventually('every node knows every other', async () => {
    const infos = await Promise.all(nodes.map(({ admin }) => admin.call('CLUSTER', 'INFO')));
    const known = `cluster_known_nodes:${nodes.length}\r`;
    return infos.every((info) => String(info).includes('cluster_state:ok') && String(info).includes(known));
  });
  for (const [i, { admin }] of nodes.slice(masters).entries()) {
    await admin.call('CLUSTER', 'REPLICATE', (nodes[i % masters] as ClusterNode).id);
  }
  await eventually('every replica follows its master', async () => {
    const infos = await Promise.all(nodes.slice(masters).map(({ admin }) => admin.info('replication')));
    if (!infos.every((info) => info.includes('master_link_status:up'))) return false;
    const seen = await Promise.all(nodes.map(({ admin }) => admin.call('CLUSTER', 'NODES')));
    return seen.every(
      (list) => (String(list).match(/ slave | myself,slave /g) ?? []).length === nodes.length - masters,
    );
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Looks until it is so. */
export async function eventually(what: string, holds: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
  for (const end = Date.now() + withinMs; Date.now() < end; await sleep(30)) {
    if (await holds().catch(() => false)) return;
  }
  throw new Error(`${withinMs} ms passed, and still not: ${what}`);
}
