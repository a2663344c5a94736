/** AIP-151: the project's test API, one for each run. */
import type { Fault as AipFault } from '../../kit/servers/aip-151/faults.ts';
import { AipServer, REPORT, rpcError } from '../../kit/servers/aip-151.ts';
import type { Truth } from '../history.ts';
import type { Fault, Script, Step } from '../script.ts';
import { resultText } from '../text.ts';
import { type Arena, FOR_GOOD, notHere } from './arena.ts';

type Call = 'start' | 'get' | 'cancel';
const CALLS: Readonly<Record<Step, Call>> = { create: 'start', get: 'get', result: 'get', cancel: 'cancel' };

interface Wire {
  readonly done?: boolean;
  readonly response?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** An operation that is made by a request runs as the script says. */
class WorkingServer extends AipServer {
  onCreated: (name: string) => void = () => undefined;
  #seen = 0;

  /** Looks for operations that were made since the last look. */
  look(): void {
    if (this.executions === this.#seen) return;
    this.#seen = this.executions;
    this.onCreated(this.last);
  }
}

export async function openAip(script: Script): Promise<Arena> {
  const { work = {}, offers = 'nothing', cancelIs = 'obeyed', before = [] } = script;
  const server = new WorkingServer({ cancel: cancelIs, ...(offers === 'look-up' ? { requestIdMs: 600_000 } : {}) });
  await server.listen();
  let first: string | null = null;
  let gone = false;
  let resultLost = false;
  const replyLost = before.some(({ on, kind }) => on === 'create' && kind !== 'late-reply');

  server.onCreated = (name) => {
    first ??= name;
    if (work.outcome === 'hold') return;
    setTimeout(() => end(name), work.atOnce ? 0 : (work.ms ?? 150));
  };
  const end = (name: string) => {
    if (work.outcome === 'rpc-error' || work.outcome === 'tool-error') server.fail(3, 'the tool broke', [], name);
    else server.complete(REPORT, name);
  };
  const looking = setInterval(() => server.look(), 3);
  const wire = async (): Promise<Wire | null> => {
    if (first === null) return null;
    const before = server.requests.length;
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/${first}`);
    // The referee's own look is not the contender's.
    server.requests.splice(before, 1);
    return response.ok ? ((await response.json()) as Wire) : null;
  };
  const set = new Set<AipFault>();
  const late = new Map<AipFault, number>();
  const next = server.faults.next.bind(server.faults);
  server.faults.next = (on) => {
    const met = next(on);
    if (met !== null) set.delete(met);
    if (met?.kind === 'hold') setTimeout(() => server.faults.release(), late.get(met));
    return met;
  };
  const fault = async (faults: readonly Fault[]) => {
    for (const given of faults) {
      const one = translated(given);
      if (given.kind === 'late-reply') late.set(one, given.ms);
      set.add(one);
      server.fault(one);
    }
  };
  await fault(before);

  return {
    url: `http://127.0.0.1:${server.port}`,
    tool: offers === 'look-up' ? 'keyed' : 'generate',
    arguments: { parent: 'projects/tides', depth: 3 },
    fault,
    operations: async () => server.executions,
    count: async (step) => server.count(CALLS[step]),
    answers: async () => 0,
    deeds: {
      complete: async () => server.complete(REPORT, first ?? server.last),
      async completeWithoutResult(times) {
        const name = first ?? server.last;
        if (times < FOR_GOOD) {
          server.fault({ on: 'get', kind: 'answer', status: 200, json: { name, done: true }, times });
          server.complete(REPORT, name);
          return;
        }
        resultLost = true;
        server.finishEmpty(name);
      },
      statuses: notHere('statuses'),
      flip: notHere('flip'),
      async forget() {
        gone = true;
        server.forget(first ?? server.last);
      },
      reuse: notHere('reuse'),
      dropSessions: notHere('sessions'),
      async restart() {
        gone = true;
        await server.restart(false);
      },
      async away(ms) {
        await server.crash();
        await new Promise((resolve) => setTimeout(resolve, ms));
        await server.listen();
      },
    },
    isQuiet: async () => gone || first === null || (await wire())?.done === true || work.outcome === 'hold',
    truth: async () => {
      server.faults.clear();
      const known = gone ? null : await wire();
      const keyed = server.requests.some(
        ({ body }) => typeof body === 'object' && body !== null && 'requestId' in body,
      );
      return truthOf(server, known, {
        none: first === null,
        gone,
        resultLost,
        reachable: !replyLost || (offers === 'look-up' && keyed),
      });
    },
    unmet: async () => [...set].map(({ kind, on }) => `${kind} on ${on}`),
    async close() {
      clearInterval(looking);
      await server.stop();
    },
  };
}

function truthOf(
  server: AipServer,
  known: Wire | null,
  facts: { readonly none: boolean; readonly gone: boolean; readonly resultLost: boolean; readonly reachable: boolean },
): Truth {
  const { response, error, done } = known ?? {};
  const status = facts.none
    ? 'none'
    : known === null
      ? 'gone'
      : !done
        ? 'working'
        : error?.code === 1
          ? 'cancelled'
          : error
            ? 'failed'
            : 'completed';
  return {
    operations: server.executions,
    status,
    text: error ? error.message : response === undefined ? null : resultText(response),
    isError: error !== undefined && error.code !== 1,
    knowable: facts.reachable && known !== null && !facts.resultLost,
    questions: 0,
    creates: server.count('start'),
    requests: server.requests.length,
  };
}

function translated(fault: Fault): AipFault {
  const on = CALLS[fault.on];
  const times = fault.times ?? 1;
  switch (fault.kind) {
    case 'lose-reply':
      return { on, times, kind: 'resetAfter' };
    case 'lose-request':
      return { on, times, kind: 'resetBefore' };
    case 'cut-reply':
      return { on, times, kind: 'truncate' };
    case 'late-reply':
      return { on, times, kind: 'hold' };
    case 'status': {
      const { status, retryAfter } = fault;
      const name = status === 429 ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE';
      const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
      return { on, times, kind: 'answer', ...rpcError(status, name), headers };
    }
    case 'error':
      return { on, times, kind: 'answer', ...rpcError(500, 'INTERNAL') };
    case 'unknown-id':
      return { on, times, kind: 'answer', ...rpcError(404, 'NOT_FOUND') };
    default:
      throw new Error(`${fault.kind}: not on this protocol`);
  }
}
