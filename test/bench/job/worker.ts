/** One contender at a time, in a process of its own. */
import { Redis } from 'ioredis';
import { obey } from '../child.ts';
import { usageOf } from '../redis-usage.ts';
import { Sent } from '../sent.ts';
import type { Setting } from './contender.ts';
import { type ContenderName, contenders } from './contenders.ts';
import { type Driven, drive } from './drive.ts';

export interface JobOrder {
  readonly contender: ContenderName;
  readonly setting: Setting;
  readonly ms: number;
}

const sent = new Sent();
const orders = {
  async run({ contender, setting, ms }: JobOrder): Promise<Driven> {
    const redis = setting.url.startsWith('redis:') ? new Redis(setting.url, { protocol: 2 }) : null;
    const opened = await contenders[contender](setting);
    try {
      const usage = redis ? { usage: async () => usageOf(await redis.info('all')) } : {};
      return await drive(opened, { inFlight: setting.inFlight, ms, sent, ...usage });
    } finally {
      await opened.close();
      redis?.disconnect();
    }
  },
};
export type JobOrders = typeof orders;
obey(orders);
