/** The chaos monkey: one seeded deed after the other, until it is told to stop. Each target suffers one deed at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Control, ScriptedServer } from '../kit/servers/mcp-2025-11-25.ts';
import { Random } from '../support/random.ts';
import type { RedisServer } from '../support/redis.ts';
import type { Fleet } from './fleet.ts';
import { LEASE_MS } from './protocol.ts';

export interface Deeds {
  executorKills: number;
  executorStops: number;
  redisKills: number;
  redisStops: number;
  serverStops: number;
  serverFaults: number;
}

type Fault = Omit<Extract<Control, { op: 'fault' }>, 'op' | 'times' | 'taskId'>;

/** What happens on the way to a server and back, by method. */
const FAULTS: readonly Fault[] = [
  { method: 'tools/call', kind: 'reset' },
  { method: 'tools/call', kind: 'resetBefore' },
  { method: 'tools/call', kind: 'silence' },
  { method: 'tools/call', kind: 'emptyStream' },
  { method: 'tools/call', kind: 'http', status: 503 },
  { method: 'tools/call', kind: 'delay', ms: 1_500 },
  { method: 'tools/call', kind: 'delay', ms: 4_000 },
  { method: 'tasks/get', kind: 'http', status: 429, retryAfter: '1' },
  { method: 'tasks/get', kind: 'http', status: 503 },
  { method: 'tasks/get', kind: 'reset' },
  { method: 'tasks/get', kind: 'delay', ms: 3_500 },
  { method: 'tasks/get', kind: 'rpc', code: -32603 },
  { method: 'tasks/result', kind: 'truncate' },
  { method: 'tasks/result', kind: 'malformed' },
  { method: 'tasks/result', kind: 'reset' },
  { method: 'tasks/cancel', kind: 'reset' },
  { method: 'tasks/cancel', kind: 'silence' },
  { method: 'tasks/cancel', kind: 'resetBefore' },
  { method: 'dev.toolop/lookup', kind: 'http', status: 503 },
  { method: 'dev.toolop/lookup', kind: 'reset' },
  { method: 'initialize', kind: 'http', status: 503 },
] as Fault[];

export interface Victims {
  readonly fleet: Fleet;
  readonly redis: RedisServer | null;
  readonly servers: readonly ScriptedServer[];
}

/** So many executors are killed, and so many others stopped until their leases have ended, at once. */
export interface Rounds {
  readonly kill: number;
  readonly pause: number;
  readonly everyMs: number;
}

export class Monkey {
  readonly deeds: Deeds = {
    executorKills: 0,
    executorStops: 0,
    redisKills: 0,
    redisStops: 0,
    serverStops: 0,
    serverFaults: 0,
  };
  readonly #victims: Victims;
  readonly #random: Random;
  readonly #suffering = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();

  readonly #rounds: Rounds | null;

  /** @param rounds in place of one executor now and then */
  constructor(victims: Victims, random: Random, rounds: Rounds | null) {
    this.#rounds = rounds;
    this.#victims = victims;
    this.#random = random;
  }

  async run(): Promise<void> {
    const rounds = this.#rounds ? this.#inRounds(this.#rounds) : null;
    while (!this.#stop.signal.aborted) {
      this.#do();
      await this.#wait(this.#random.between(200, 2_500));
    }
    await rounds;
  }

  /** Whoever still suffers from the last round is left alone in this one. */
  async #inRounds({ kill, pause, everyMs }: Rounds): Promise<void> {
    // A sequence of its own, so that the other deeds are the seed's whatever takes how long.
    const random = new Random(this.#random.between(0, 2 ** 31));
    while (!this.#stop.signal.aborted) {
      const slots = shuffled([...Array(this.#victims.fleet.size).keys()], random);
      const well = slots.filter((slot) => !this.#suffering.has(executor(slot)));
      for (const slot of well.slice(0, kill)) this.#killExecutor(slot, random.between(100, 2_500));
      for (const slot of well.slice(kill, kill + pause))
        this.#stopExecutor(slot, LEASE_MS + random.between(500, 4_500));
      await this.#wait(everyMs);
    }
  }

  #killExecutor(slot: number, pauseMs: number): void {
    this.#hurt(executor(slot), async () => {
      this.deeds.executorKills++;
      await this.#victims.fleet.replace(slot, pauseMs);
    });
  }

  #stopExecutor(slot: number, ms: number): void {
    const { fleet } = this.#victims;
    this.#hurt(executor(slot), async () => {
      this.deeds.executorStops++;
      fleet.signal(slot, 'SIGSTOP');
      await this.#wait(ms);
      fleet.signal(slot, 'SIGCONT');
    });
  }

  /** Ends every outage: what is dead runs again, what is stopped goes on, no fault waits. */
  async heal(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#suffering.values());
    for (const server of this.#victims.servers) await server.control({ op: 'clearFaults' });
  }

  /** Every choice is drawn, also for a target that is suffering already: the sequence is the seed's. */
  #do(): void {
    const { fleet, redis, servers } = this.#victims;
    const random = this.#random;
    const kind = random.next();
    const slot = random.between(0, fleet.size - 1);
    const server = random.pick(servers);
    const fault = random.pick(FAULTS);
    const short = random.between(100, 2_500);
    const long = random.between(300, 6_000);
    if (kind < 0.57) {
      if (this.#rounds) return;
      if (kind < 0.32) this.#killExecutor(slot, short);
      else this.#stopExecutor(slot, long);
    } else if (kind < 0.67 && redis) {
      this.#hurt('redis', async () => {
        this.deeds.redisKills++;
        await redis.kill('SIGKILL');
        await this.#wait(short);
        await redis.restart();
      });
    } else if (kind < 0.77 && redis) {
      this.#hurt('redis', async () => {
        this.deeds.redisStops++;
        await redis.kill('SIGSTOP');
        await this.#wait(long);
        await redis.kill('SIGCONT');
      });
    } else if (kind < 0.8) {
      this.#hurt(`server ${server.port}`, async () => {
        this.deeds.serverStops++;
        process.kill(server.pid, 'SIGSTOP');
        await this.#wait(long / 2);
        process.kill(server.pid, 'SIGCONT');
      });
    } else if (kind < 0.82) {
      this.#hurt(`server ${server.port}`, async () => {
        this.deeds.serverFaults++;
        await server.control({ op: 'dropSessions' });
      });
    } else {
      this.#hurt(`server ${server.port}`, async () => {
        this.deeds.serverFaults++;
        await server.control({ op: 'fault', ...fault } as Control);
      });
    }
  }

  #hurt(target: string, deed: () => Promise<void>): void {
    if (this.#suffering.has(target)) return;
    const pain = deed().finally(() => this.#suffering.delete(target));
    this.#suffering.set(target, pain);
  }

  #wait(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}

const executor = (slot: number) => `executor ${slot}`;

function shuffled<T>(list: T[], random: Random): T[] {
  for (let last = list.length - 1; last > 0; last--) {
    const other = random.between(0, last);
    [list[last], list[other]] = [list[other] as T, list[last] as T];
  }
  return list;
}
