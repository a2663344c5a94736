import { Cluster } from 'ioredis';
import { RedisHost } from '../../persistence/redis/host.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { ledgerContract, type StoreUnderTest } from './contract/index.ts';

ledgerContract('Redis Cluster', async (): Promise<StoreUnderTest> => {
  const cluster = await startRedisCluster();
  const redis = new Cluster(cluster.nodes.map(({ server }) => ({ host: '127.0.0.1', port: server.port })));
  return {
    address: cluster.url,
    host: async () => new RedisHost({ url: cluster.url, channel: 'test', commandTimeoutMs: 1000 }),
    plant: async (key, field, value) => {
      await (value === null ? redis.hdel(key, field) : redis.hset(key, field, value));
    },
    replace: async (key, by) => {
      const text = by === null ? null : await redis.getBuffer(key);
      if (by === null) await redis.del(key);
      else await redis.set(key, by(text ?? Buffer.alloc(0)));
    },
    unrank: async (key, member) => {
      await redis.zrem(key, member);
    },
    clear: () => cluster.flush(),
    stop: async () => {
      redis.disconnect();
      await cluster.stop();
    },
  };
});
