/** What a Redis server has done since it was started, from its INFO. */
import { difference } from './statistics.ts';

export interface RedisUsage {
  /** CPU of its main thread and background threads, ms. */
  readonly cpuMs: number;
  readonly bytesIn: number;
  readonly aofBytes: number;
  /** Calls by command; what a script calls is counted too. */
  readonly calls: Readonly<Record<string, number>>;
}

/** @param info the text of `INFO all` */
export function usageOf(info: string): RedisUsage {
  const calls: Record<string, number> = {};
  for (const [, name = '', count] of info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) calls[name] = Number(count);
  return {
    cpuMs: (field(info, 'used_cpu_user') + field(info, 'used_cpu_sys')) * 1_000,
    bytesIn: field(info, 'total_net_input_bytes'),
    // Absent where nothing is appended.
    aofBytes: info.includes('aof_current_size:') ? field(info, 'aof_current_size') : 0,
    calls,
  };
}

export function usageBetween(before: RedisUsage, after: RedisUsage): RedisUsage {
  // The question itself is none of the work.
  const { info: _, ...calls } = difference(after.calls, before.calls);
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    bytesIn: after.bytesIn - before.bytesIn,
    aofBytes: after.aofBytes - before.aofBytes,
    calls,
  };
}

export function field(info: string, name: string): number {
  const value = new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1];
  if (value === undefined) throw new Error(`the server's INFO has no ${name}`);
  return Number(value);
}
