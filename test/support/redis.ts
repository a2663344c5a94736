import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

export interface RedisOptions {
  /** Default: `true`, with `appendfsync always`. */
  readonly appendonly?: boolean;
  /** Default: a directory of its own, removed by `stop`. */
  readonly dir?: string;
  /** Default: a free port. */
  readonly port?: number;
  /** Further arguments of redis-server. */
  readonly args?: readonly string[];
}

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Sends a signal; `SIGKILL` and `SIGTERM` wait for the end. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and data, when it is not running. */
  restart(): Promise<void>;
  /** Kills it and removes its data. */
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a real redis-server, which ends with this process at the latest. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'toolop-redis-'));
  const port = options.port ?? (await freePort());
  let child = await launch(port, dir, options);

  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = signal === 'SIGKILL' || signal === 'SIGTERM' ? once(child, 'exit') : null;
    child.kill(signal);
    await gone;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    async restart() {
      await kill('SIGKILL');
      child = await launch(port, dir, options);
    },
    async stop() {
      await kill('SIGKILL');
      // A child of its own may still be writing a snapshot; what cannot be removed is in the temporary directory anyway.
      if (options.dir === undefined)
        await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }).catch(() => undefined);
    },
  };
}

async function launch(port: number, dir: string, options: RedisOptions): Promise<ChildProcess> {
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir,
    save: '',
    appendonly: options.appendonly === false ? 'no' : 'yes',
    appendfsync: 'always',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  return spawnRedis(port, [...args, ...(options.args ?? [])]);
}

/** A redis-server that answers on this port, and ends with this process at the latest. */
export async function spawnRedis(port: number, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let log = '';
  child.stdout?.on('data', (data) => {
    log = `${log}${data}`.slice(-4000);
  });
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  child.once('exit', () => running.delete(child));
  await Promise.race([answers(child, port, () => log), failed]);
  return child;
}

/** Waits for the server to answer, and makes sure that it is this one. */
async function answers(child: ChildProcess, port: number, log: () => string): Promise<void> {
  // A connection that was begun while the server was still starting may get no answer at all.
  const patience = { connectTimeout: 500, commandTimeout: 2_000, retryStrategy: () => 20 };
  const redis = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null, ...patience });
  redis.on('error', () => {});
  try {
    for (const end = Date.now() + 10_000; Date.now() < end; await sleep(20)) {
      if (child.exitCode !== null) throw new Error(`redis-server ended: ${log()}`);
      if (redis.status !== 'ready') continue;
      const info = await redis.info('server').catch(() => null);
      if (info === null) continue;
      const pid = /process_id:(\d+)/.exec(info)?.[1];
      if (Number(pid) !== child.pid) throw new Error(`port ${port} belongs to another redis-server (pid ${pid})`);
      return;
    }
    throw new Error(`redis-server did not answer in 10 s: ${log()}`);
  } finally {
    redis.disconnect();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
