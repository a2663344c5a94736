/** A primary with a replica, and three Sentinels that watch over them, on loopback. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, type RedisServer, spawnRedis, startRedis } from './redis.ts';
import { eventually } from './redis-cluster.ts';

const MASTER = 'ledger';

export interface SentinelSet {
  /** `redis+sentinel://.../ledger` */
  readonly url: string;
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  /** The port of whoever the Sentinels call the primary. */
  primaryPort(): Promise<number>;
  stop(): Promise<void>;
}

export async function startSentinels(): Promise<SentinelSet> {
  const dir = mkdtempSync(join(tmpdir(), 'toolop-sentinel-'));
  const servers: RedisServer[] = [];
  const sentinels: { readonly child: ChildProcess; readonly port: number; readonly admin: Redis }[] = [];
  const stop = async (): Promise<void> => {
    for (const { admin, child } of sentinels) {
      admin.disconnect();
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const primary = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
    servers.push(primary);
    const replica = await startRedis({
      args: ['--repl-diskless-sync-delay', '0', '--replicaof', '127.0.0.1', String(primary.port)],
    });
    servers.push(replica);
    for (let i = 0; i < 3; i += 1) {
      const port = await freePort();
      const file = join(dir, `sentinel-${port}.conf`);
      const lines = [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${dir}`,
        `sentinel monitor ${MASTER} 127.0.0.1 ${primary.port} 2`,
        `sentinel down-after-milliseconds ${MASTER} 1000`,
        `sentinel failover-timeout ${MASTER} 4000`,
      ];
      writeFileSync(file, `${lines.join('\n')}\n`);
      const child = await spawnRedis(port, [file, '--sentinel']);
      const admin = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 50, maxRetriesPerRequest: null });
      admin.on('error', () => undefined);
      sentinels.push({ child, port, admin });
    }
    // They find each other and the replica through the primary: a failover before that would never come.
    await eventually('the Sentinels agree', async () => {
      const views = await Promise.all(
        sentinels.map(async ({ admin }) => [
          String(await admin.call('SENTINEL', 'CKQUORUM', MASTER)),
          String(await admin.info('sentinel')),
        ]),
      );
      return views.every(([quorum, info]) => /^OK 3/.test(quorum ?? '') && /slaves=1,sentinels=3/.test(info ?? ''));
    });
    return {
      url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${MASTER}`,
      primary,
      replica,
      async primaryPort() {
        const [first] = sentinels;
        const reply = (await first?.admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER)) as [string, string];
        return Number(reply[1]);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
