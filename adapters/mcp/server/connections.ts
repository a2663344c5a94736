import { Redis } from 'ioredis';

/** A Redis server that may forget what it acknowledged cannot say "never created". */
export class RedisNotDurable extends Error {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'RedisNotDurable';
}

/** Redis did not answer. */
export class RedisUnreachable extends Error {
  /** For logs, and for code that cannot use `instanceof`. */
  override readonly name = 'RedisUnreachable';
}

/** A connection of our own, with the settings of the given one. */
export function connectionLike(redis: string | Redis, onError: (error: Error) => void): Redis {
  if (typeof redis === 'string' ? /^rediss?\+/.test(redis) : redis.isCluster) {
    throw new RangeError('the tasks of a server stand in one Redis, redis:// or rediss://: a cluster is not taken');
  }
  // 6.0.0 decodes some large RESP3 numbers wrongly. A script may be sent again: each is safe to repeat.
  // Who listens subscribes on every connection anew; what ioredis does of itself then is rejected to nobody.
  const settings = { protocol: 2, maxRetriesPerRequest: 1, keepAlive: 10_000, autoResubscribe: false } as const;
  const connection = typeof redis === 'string' ? new Redis(redis, settings) : redis.duplicate(settings);
  connection.on('error', onError);
  return connection;
}

/** Rejects for a server that evicts keys, or that a restart makes forget them. One that does not tell is believed. */
export async function assertDurable(redis: Redis): Promise<void> {
  const setting = async (name: string): Promise<string | null> => {
    const reply: unknown = await redis.call('CONFIG', 'GET', name).catch((error: Error) => {
      if (error.name === 'ReplyError') return null;
      throw error;
    });
    return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : null;
  };
  const policy = await setting('maxmemory-policy');
  if (policy !== null && policy !== 'noeviction') {
    throw new RedisNotDurable(
      `maxmemory-policy is ${policy}: submission keys could be evicted; set it to noeviction, or say durable: false`,
    );
  }
  if ((await setting('appendonly')) === 'no') {
    throw new RedisNotDurable(
      'appendonly is no: a restart of Redis would forget submission keys; set it to yes, or say durable: false',
    );
  }
}
