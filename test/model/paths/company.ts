/** The processes that fill the two roles of the model: who works on the operation, who is free, who is gone. */
import type { OperationSnapshot } from '../../../machines/tool-operation/snapshot.ts';
import { Drive, driveAt, Stage, type World } from '../system/world.ts';
import { Divergence, wait } from './divergence.ts';
import type { GatedExecutor } from './gates.ts';
import type { Story } from './story.ts';
import { LEASE_MS, type Theatre } from './theatre.ts';

export type Role = 0 | 1;

export class Company {
  readonly #roles: (GatedExecutor | null)[] = [null, null];
  /** Those that the model has no role for, with the record they knew when it let them go. */
  readonly #others = new Map<GatedExecutor, OperationSnapshot>();
  readonly #gone = new Set<GatedExecutor>();
  #sessionChanged = false;
  #epochRaised = false;
  creationAllowed = true;

  constructor(
    private readonly theatre: Theatre,
    private readonly operationId: string,
    private readonly story: Story,
  ) {}

  get alive(): readonly GatedExecutor[] {
    return [...this.#roles, ...this.#others.keys()].filter((one) => one !== null);
  }

  filling(role: Role): GatedExecutor | null {
    return this.#roles[role] ?? null;
  }

  inRole(role: Role): GatedExecutor {
    const executor = this.filling(role);
    if (!executor) throw new Divergence('nobody is in that role');
    return executor;
  }

  /** Whoever fills the role: the one who does already, the one who holds the lease, or a new process. */
  async take(role: Role, anew: boolean, listener: GatedExecutor | undefined): Promise<GatedExecutor> {
    const filling = this.filling(role);
    if (filling && !anew) return filling;
    const epoch = role === 1 && this.#epochRaised ? 2 : 1;
    const others = [...this.#others.keys()];
    const lease = (await this.theatre.ledger.load(this.operationId))?.lease;
    const owner = others.find(({ id }) => id === lease?.owner);
    if (owner && !anew && owner.epoch === epoch && !owner.isStopped && this.#knowsInbox(owner))
      return this.#cast(role, owner);
    for (const one of [...others, ...(filling ? [filling] : [])]) {
      if (one !== owner && one !== filling && one.epoch === epoch && !one.isStopped) continue;
      // It still has an answer to take in.
      if (one === listener && one !== owner) continue;
      this.#others.delete(one);
      this.#gone.add(one);
      await one.end();
    }
    const free = [...this.#others.keys()].find((one) => one.epoch === epoch && !one.isStopped);
    const executor = free ?? (await this.#join(epoch));
    executor.claim();
    await wait(async () => {
      executor.executor.serve(this.theatre.call.endpoint);
      return (await this.theatre.ledger.load(this.operationId))?.lease?.owner === executor.id;
    }, 'the record is not claimed');
    return this.#cast(role, executor);
  }

  /** What it began without what an older epoch brought since, goes on without that. */
  #knowsInbox(executor: GatedExecutor): boolean {
    return this.#others.get(executor)?.context.inbox.length === this.story.snapshot.context.inbox.length;
  }

  async #join(epoch: number): Promise<GatedExecutor> {
    const executor = this.theatre.executor(epoch, () => this.creationAllowed);
    await executor.executor.start();
    if (this.#sessionChanged) executor.executor.env.connections.loseSession(this.story.snapshot.context);
    return executor;
  }

  #cast(role: Role, executor: GatedExecutor): GatedExecutor {
    this.#others.delete(executor);
    this.#roles[role] = executor;
    return executor;
  }

  /** Roles that the model has given up by now. */
  leave(next: World): void {
    for (const role of [0, 1] as const) {
      const executor = this.filling(role);
      if (!executor || next[driveAt(role, Drive.stage)] !== Stage.none) continue;
      this.#roles[role] = null;
      if (!this.#gone.has(executor)) this.#others.set(executor, this.story.snapshot);
    }
  }

  async kill(role: Role): Promise<GatedExecutor> {
    const executor = this.#vacate(role);
    executor.kill();
    const record = await this.theatre.ledger.load(this.operationId);
    if (record?.lease?.owner === executor.id) this.theatre.clock.jump(LEASE_MS + 1_000);
    return executor;
  }

  /** It ends as a process that is asked to. */
  async dismiss(role: Role): Promise<void> {
    await this.#vacate(role).end();
  }

  #vacate(role: Role): GatedExecutor {
    const executor = this.inRole(role);
    this.#roles[role] = null;
    this.#gone.add(executor);
    return executor;
  }

  /** Its process stands still until its lease is over. */
  stop(role: Role): void {
    this.inRole(role).isStopped = true;
    this.theatre.clock.jump(LEASE_MS + 1_000);
  }

  changeSession(): void {
    this.#sessionChanged = true;
    for (const one of this.alive) one.executor.env.connections.loseSession(this.story.snapshot.context);
  }

  /** Whoever takes the second role from now on is of the new epoch. */
  raiseEpoch(): void {
    this.#epochRaised = true;
  }

  async end(): Promise<void> {
    for (const one of new Set([...this.alive, ...this.#gone]))
      await (one.isDead ? one.executor.env.connections.close() : one.end());
  }
}
