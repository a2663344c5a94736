/** MCP: a scripted server of either revision behind the wire proxy, over HTTP. */
import { startHttpProxy } from '../../kit/wire/http.ts';
import type { RuleInput } from '../../kit/wire/rules.ts';
import type { Line } from '../../kit/wire/wire.ts';
import type { Protocol, ServerStatus, Truth } from '../history.ts';
import type { Fault, Script, Step } from '../script.ts';
import { resultText } from '../text.ts';
import { type Arena, type Deeds, FOR_GOOD } from './arena.ts';
import type { McpServer, ServerTask } from './servers.ts';

export interface McpArenaOptions {
  readonly protocol: Exclude<Protocol, 'aip-151'>;
  readonly server: McpServer;
  readonly script: Script;
}

export async function openMcp(options: McpArenaOptions): Promise<Arena> {
  const arena = new McpArena(options);
  await arena.open();
  return arena;
}

class McpArena implements Arena {
  readonly deeds: Deeds = {
    complete: () => this.#complete(),
    completeWithoutResult: (times) => this.#completeWithoutResult(times),
    statuses: (...statuses) => this.#tell({ op: 'statuses', statuses }),
    flip: (status) => this.#tell({ op: 'status', status }),
    forget: () => this.#forget(),
    reuse: () => this.#reuse(),
    dropSessions: () => this.#server.control({ op: 'dropSessions' }),
    restart: () => this.#restart(),
    away: (ms) => this.#away(ms),
  };
  readonly #protocol: McpArenaOptions['protocol'];
  readonly #server: McpServer;
  readonly #script: Script;
  #proxy!: Awaited<ReturnType<typeof startHttpProxy>>;
  /** From before the proxy was away. */
  #oldLines: readonly Line[] = [];
  #first: string | null = null;
  #gone = false;
  #resultLost = false;

  constructor({ protocol, server, script }: McpArenaOptions) {
    this.#protocol = protocol;
    this.#server = server;
    this.#script = script;
  }

  async open(): Promise<void> {
    const { before = [] } = this.#script;
    this.#proxy = await startHttpProxy(
      this.#server.url,
      before.map((fault) => this.#rule(fault)),
    );
  }

  get url(): string {
    return this.#proxy.url;
  }

  get tool(): string {
    return this.#script.work?.badSchema ? 'typed' : 'work';
  }

  get arguments(): Readonly<Record<string, unknown>> {
    return { script: this.#server.script(this.#script.work ?? {}) };
  }

  async fault(faults: readonly Fault[]): Promise<void> {
    await this.#proxy.rules(faults.map((fault) => this.#rule(fault)));
  }

  async operations(): Promise<number> {
    return (await this.#server.log()).executions;
  }

  async count(step: Step): Promise<number> {
    const method = this.#method(step);
    return (await this.#lines()).filter((line) => line.direction === 'request' && line.method === method).length;
  }

  async answers(): Promise<number> {
    return (await this.#server.log()).answers.length;
  }

  #complete(): Promise<void> {
    return this.#tell({ op: 'complete' });
  }

  async #completeWithoutResult(times: number): Promise<void> {
    this.#resultLost = times >= FOR_GOOD;
    if (this.#protocol === 'mcp-2025-11-25') {
      await this.fault([{ on: 'result', kind: 'error', code: -32603, message: 'no result stored', times }]);
    } else {
      await this.deeds.statuses(...Array.from({ length: times }, () => 'completed'));
    }
    await this.#complete();
  }

  async #forget(): Promise<void> {
    this.#gone = true;
    await this.#tell({ op: 'forget' });
  }

  async #reuse(): Promise<void> {
    this.#gone = true;
    await this.#tell({ op: 'reuse', createdAt: new Date(Date.now() + 60_000).toISOString() });
    await this.#complete();
  }

  async #restart(): Promise<void> {
    this.#gone = true;
    await this.#server.restart();
  }

  async #away(ms: number): Promise<void> {
    this.#oldLines = await this.#lines();
    const { port } = this.#proxy;
    await this.#proxy.close();
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#proxy = await startHttpProxy(this.#server.url, [], port);
  }

  async isQuiet(): Promise<boolean> {
    const task = await this.#task();
    return (
      task === null || this.#script.work?.outcome === 'hold' || !['working', 'input_required'].includes(task.status)
    );
  }

  async truth(): Promise<Truth> {
    const [log, task, lines] = await Promise.all([this.#server.log(), this.#task(), this.#lines()]);
    const { work = {}, offers } = this.#script;
    const known = this.#gone ? null : task;
    const atOnce = log.created.length === 0 && log.executions > 0;
    const delivered = lines.some(
      ({ method, direction, fate }) => method === 'tools/call' && direction === 'response' && fate === 'passed',
    );
    const keyed = log.requests.some(({ meta }) => 'dev.toolop/submission-key' in meta);
    const status: ServerStatus =
      log.executions === 0 ? 'none' : atOnce ? 'completed' : known === null ? 'gone' : known.status;
    return {
      operations: log.executions,
      status,
      text: this.#resultLost ? null : atOnce ? 'done' : endingText(known),
      isError: known !== null && isError(known),
      knowable: (known !== null || atOnce) && !this.#resultLost && (delivered || (offers === 'look-up' && keyed)),
      questions: work.questions ?? 0,
      creates: log.counts['tools/call'] ?? 0,
      requests: log.requests.length,
    };
  }

  async unmet(): Promise<readonly string[]> {
    const { rules } = await this.#proxy.log();
    return rules.filter(({ hits }) => hits === 0).map(({ rule }) => `${rule.action.kind} on ${rule.method}`);
  }

  close(): Promise<void> {
    return this.#proxy.close();
  }

  async #lines(): Promise<readonly Line[]> {
    return [...this.#oldLines, ...(await this.#proxy.log()).lines];
  }

  /** The first one that the call made. */
  async #task(): Promise<ServerTask | null> {
    this.#first ??= (await this.#server.log()).created[0] ?? null;
    if (this.#first === null) return null;
    return (await this.#server.tasks()).find(({ taskId }) => taskId === this.#first) ?? null;
  }

  async #tell(command: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#task();
    await this.#server.control({ taskId: this.#first ?? 'last', ...command });
  }

  #method(step: Step): string {
    const methods = { create: 'tools/call', get: 'tasks/get', cancel: 'tasks/cancel', result: 'tasks/result' };
    return step === 'result' && this.#protocol === 'mcp-2026-07-28' ? methods.get : methods[step];
  }

  #rule(fault: Fault): RuleInput {
    const { on, times = 1 } = fault;
    const [direction, action] = actionOf(fault);
    return { method: this.#method(on), direction, times, action };
  }
}

function actionOf(fault: Fault): readonly [RuleInput['direction'], RuleInput['action']] {
  switch (fault.kind) {
    case 'lose-reply':
      return ['response', { kind: 'drop' }];
    case 'lose-request':
      return ['request', { kind: 'drop' }];
    case 'cut-reply':
      return ['response', { kind: 'truncate' }];
    case 'late-reply':
      return ['response', { kind: 'delay', ms: fault.ms }];
    case 'status': {
      const { status, retryAfter } = fault;
      return ['request', { kind: 'replace', with: { status, ...(retryAfter === undefined ? {} : { retryAfter }) } }];
    }
    case 'error': {
      const { code, message } = fault;
      return ['request', { kind: 'replace', with: { error: { code, message } } }];
    }
    case 'unknown-id':
      return ['request', { kind: 'replace', with: { error: { code: -32602, message: 'Task not found' } } }];
    case 'answer':
      return ['response', { kind: 'replace', with: { result: { ...fault.result } } }];
  }
}

const endingText = (task: ServerTask | null): string | null => {
  if (!task?.ending) return null;
  return 'error' in task.ending ? task.ending.error.message : resultText(task.ending.result);
};

const isError = ({ ending }: ServerTask): boolean =>
  ending !== null && ('error' in ending || ending.result.isError === true);
