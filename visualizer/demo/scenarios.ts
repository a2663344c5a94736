/** The four calls of the demo. Each returns its receipt, and throws where something is not as it must be. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Endpoint, Executor, InputReply, OpenRound, ToolCall } from '../../machines/index.ts';
import { startCountingProxy } from './counting-proxy.ts';
import { ended, endsWithDemo, everythingEntry, startEverything, TOOL } from './everything.ts';
import { type Finished, say, stateOf, statePrinter } from './show.ts';

export interface Demo {
  readonly executor: Executor;
  readonly ledgerPath: string;
  readonly dir: string;
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
/** As a URL, so that a child finds it wherever it is started. */
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

export function callOf(node: string, endpoint: Endpoint, args: Readonly<Record<string, unknown>>): ToolCall {
  return { callNodeId: node, endpoint, tool: TOOL, arguments: args };
}

/** A stdio server of its own for one call, and how many `tools/call` it saw. */
function stdioServer(demo: Demo, name: string): { readonly endpoint: Endpoint; calls(): number } {
  const countFile = join(demo.dir, `${name}.calls`);
  const args = ['--import', tsx, here('counting-stdio.ts'), countFile, process.execPath, everythingEntry(), 'stdio'];
  return {
    endpoint: { kind: 'stdio', command: process.execPath, args },
    calls: () => (existsSync(countFile) ? readFileSync(countFile, 'utf8').trim().split('\n').length : 0),
  };
}

export async function toItsEnd(demo: Demo): Promise<Finished> {
  const server = stdioServer(demo, 'plain');
  const operationId = await submitted(demo, callOf('demo:plain:1', server.endpoint, { topic: 'tides' }));
  return finished(demo, operationId, '1 to its end', server.calls);
}

/** The human of the demo: says what is asked, and answers by script. */
export const scriptedHuman = {
  async ask(round: OpenRound): Promise<InputReply> {
    say(`          the server asks: ${round.request.message}`);
    say('          scripted answer: accept {"interpretation":"historical"}');
    return { action: 'accept', content: { interpretation: 'historical' } };
  },
};

export async function withInput(demo: Demo): Promise<Finished> {
  const server = stdioServer(demo, 'input');
  const args = { topic: 'tides', ambiguous: true };
  const operationId = await submitted(demo, callOf('demo:ambiguous:1', server.endpoint, args));
  const result = await finished(demo, operationId, '2 input round', server.calls);
  const { output } = (await demo.executor.outcome(operationId)) ?? {};
  must(JSON.stringify(output ?? null).includes('historical'), 'the answer did not reach the server');
  return result;
}

export async function cancelled(demo: Demo): Promise<Finished> {
  const server = stdioServer(demo, 'cancel');
  const operationId = await submitted(demo, callOf('demo:cancelled:1', server.endpoint, { topic: 'tides' }));
  let asked = false;
  return finished(demo, operationId, '3 cancelled', server.calls, async (state) => {
    if (asked || state !== 'WORKING.polling') return;
    asked = true;
    say('          cancel requested');
    await demo.executor.cancel(operationId, 'demo', 'shown in the demo');
  });
}

export async function killedExecutor(demo: Demo): Promise<Finished> {
  const server = await startEverything();
  const proxy = await startCountingProxy(server.url);
  const node = 'demo:killed:1';
  const args = ['--import', tsx, here('executor.ts'), demo.ledgerPath, proxy.url, node];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  endsWithDemo(child);
  try {
    const print = statePrinter();
    let polls = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const state = JSON.parse(line) as ReturnType<typeof stateOf>;
      print(state);
      if (state.state === 'WORKING.polling') polls += 1;
      if (polls === 2) break;
    }
    must(polls === 2, 'the first executor ended before it could be killed');
    await ended(child);
    say(`          kill -9 of the first executor (process ${child.pid}); a second one takes over`);
    demo.executor.serve({ kind: 'http', url: proxy.url });
    const operationId = demo.executor.operationIdOf({ callNodeId: node });
    return await finished(demo, operationId, '4 executor killed', proxy.calls);
  } finally {
    await ended(child);
    await proxy.stop();
    await server.stop();
  }
}

async function submitted({ executor }: Demo, call: ToolCall): Promise<string> {
  const answer = await executor.submit(call);
  if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}; ${answer.next}`);
  return answer.operationId;
}

async function finished(
  { executor }: Demo,
  operationId: string,
  title: string,
  calls: () => number,
  onState: (state: string) => Promise<void> = async () => undefined,
): Promise<Finished> {
  const print = statePrinter();
  let last = '';
  for await (const opened of executor.follow(operationId, AbortSignal.timeout(30_000))) {
    const state = stateOf(opened);
    print(state);
    last = state.state;
    must(!last.startsWith('PARKED'), `parked: ${opened.snapshot.context.parked?.reason}`);
    await onState(last);
  }
  const outcome = await executor.outcome(operationId);
  if (!outcome) throw new Error(`no receipt after 30 seconds, in ${last}`);
  return { title, receipt: outcome.receipt, state: last, calls: calls() };
}

export function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
