/** A Redis for a suite, and the questions that every suite asks of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { field, type RedisUsage, usageOf } from './redis-usage.ts';

export type Fsync = 'always' | 'everysec' | 'off';

export class Server {
  private constructor(
    readonly process: RedisServer,
    readonly redis: Redis,
  ) {}

  static async start(fsync: Fsync): Promise<Server> {
    // A rewrite of the file in the middle of a run would be somebody's bad luck.
    const args = ['--auto-aof-rewrite-percentage', '0', ...(fsync === 'off' ? [] : ['--appendfsync', fsync])];
    const process = await startRedis({ appendonly: fsync !== 'off', args });
    return new Server(process, new Redis(process.url, { protocol: 2 }));
  }

  get url(): string {
    return this.process.url;
  }

  async usage(): Promise<RedisUsage> {
    return usageOf(await this.redis.info('all'));
  }

  async usedMemory(): Promise<number> {
    return field(await this.redis.info('memory'), 'used_memory');
  }

  /** As if nothing had been written: the keys go, and so does what the file remembers of them. */
  async empty(): Promise<void> {
    await this.redis.flushall();
    const info = await this.redis.info('persistence');
    if (field(info, 'aof_enabled') === 0) return;
    await this.redis.bgrewriteaof();
    while (field(await this.redis.info('persistence'), 'aof_rewrite_in_progress') === 1) await sleep(5);
  }

  async stop(): Promise<void> {
    this.redis.disconnect();
    await this.process.stop();
  }
}
