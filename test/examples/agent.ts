/**
 * An agent as an XState machine: two long tool calls at once, then a third that a human has to approve. Kill it at any moment
 * (`kill -9`) and start it again with the same arguments: it goes on where it was, and no tool is called twice.
 *
 *   node --import tsx test/examples/agent.ts http://127.0.0.1:3002/mcp .toolop/agent
 *
 * The server is any of MCP 2026-07-28; `work` is the tool of the scripted one (`toolop/testing`), whose `script` says how
 * a call is to go. INSPECT=ws://127.0.0.1:8080 shows all of it in the Stately inspector. An answer is a line on stdin.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { createWebSocketInspector } from '@statelyai/inspect';
import { mcp20260728 } from 'toolop/adapters/mcp-2026-07-28';
import {
  type ApprovalPort,
  createOperationLogic,
  Executor,
  type TerminalOutcome,
  type ToolCall,
} from 'toolop/machines';
import { openLedger } from 'toolop/persistence';
import { assign, createActor, type DoneActorEvent, type Snapshot, setup, toPromise } from 'xstate';

const [url = 'http://127.0.0.1:3002/mcp', directory = '.toolop/agent'] = process.argv.slice(2);
const workMs = Number(process.env.WORK_MS ?? 5_000);
mkdirSync(directory, { recursive: true });

/** A human at this terminal. With stdin at its end nobody is asked, and the question waits for `toolop answer`. */
const terminal = createInterface({ input: process.stdin, output: process.stderr });
const approval: ApprovalPort = {
  async ask({ request, round }, signal, refusal) {
    console.log(`asked: ${request.message} (round ${round})${refusal === null ? '' : `: ${refusal}`}`);
    const line = await terminal.question('your word, or nothing to decline: ', { signal }).catch(() => null);
    if (line === null) return null;
    return line === '' ? { action: 'decline' } : { action: 'accept', content: { word: line } };
  },
};

// The ledger is what survives. The executor serves it, and finishes what an earlier process began.
const endpoint = { kind: 'http', url } as const;
const ledger = await openLedger(join(directory, 'ledger.db'), { namespace: 'agent' });
const executor = await new Executor({
  ...{ ledger, namespace: 'agent', protocols: [mcp20260728()], endpoints: [endpoint], approval },
  leaseMs: 5_000, // how soon a step that a killed process was in the middle of is taken up again
}).start();

type Step = 'tides' | 'weather' | 'publish';
interface Context {
  readonly run: string;
  readonly receipts: Partial<Record<Step, string>>;
}

/** One step of one run is one call node, for ever: whoever makes this call again gets the operation that is there. */
function callOf({ run }: Context, step: Step): ToolCall {
  const script = step === 'publish' ? { ask: [['approve']] } : { ms: workMs };
  return { callNodeId: `${run}/${step}`, endpoint, tool: 'work', arguments: { label: step, script } };
}

/** A step as an invoked actor. It ends with its receipt, once; refused, or parked for a human, it is an error. */
const invoked = <Target extends string>(step: Step, target: Target) => ({
  id: step,
  src: 'toolOperation' as const,
  input: ({ context }: { readonly context: Context }) => callOf(context, step),
  onSnapshot: {}, // a step of the operation is a step of the agent: its subscribers hear of it
  onDone: {
    target,
    actions: {
      type: 'keep' as const,
      params: ({ event }: { readonly event: DoneActorEvent<TerminalOutcome> }) => ({
        step,
        outcome: event.output.receipt.outcome,
        receiptId: event.output.receipt.receiptId,
      }),
    },
  },
  onError: '#agent.failed' as const,
});

const agent = setup({
  types: { context: {} as Context, input: {} as { readonly run: string } },
  actors: { toolOperation: createOperationLogic({ executor }) },
  actions: {
    keep: assign(({ context }, told: { readonly step: Step; readonly outcome: string; readonly receiptId: string }) => {
      console.log(`receipt: ${told.step} ${told.outcome} ${told.receiptId}`);
      return { receipts: { ...context.receipts, [told.step]: told.receiptId } };
    }),
  },
}).createMachine({
  id: 'agent',
  context: ({ input }) => ({ run: input.run, receipts: {} }),
  initial: 'researching',
  states: {
    researching: {
      type: 'parallel',
      states: {
        tides: {
          initial: 'calling',
          states: { calling: { invoke: invoked('tides', 'over') }, over: { type: 'final' } },
        },
        weather: {
          initial: 'calling',
          states: { calling: { invoke: invoked('weather', 'over') }, over: { type: 'final' } },
        },
      },
      onDone: 'publishing',
    },
    publishing: { invoke: invoked('publish', 'published') },
    published: { type: 'final' },
    failed: { type: 'final', entry: ({ event }) => console.log('failed:', 'error' in event ? event.error : event) },
  },
});

// What an earlier process persisted; without it the run begins. Its calls are the same either way.
const file = join(directory, 'agent.json');
const persisted = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Snapshot<unknown>) : null;
const inspector = process.env.INSPECT ? createWebSocketInspector({ url: process.env.INSPECT }) : null;
const actor = createActor(agent, {
  input: { run: 'run-42' },
  ...(persisted ? { snapshot: persisted } : {}),
  ...(inspector ? { inspect: inspector.inspect } : {}),
});

// A restored handle attaches and never creates, so a snapshot is kept once all that it refers to is on record.
actor.subscribe((snapshot) => {
  const handles = Object.values(snapshot.children).map((child) => child?.getSnapshot());
  if (handles.some((handle) => handle?.operationId === null)) return;
  writeFileSync(`${file}.new`, JSON.stringify(actor.getPersistedSnapshot()));
  renameSync(`${file}.new`, file);
  console.log(`kept: ${JSON.stringify(snapshot.value)}`);
});

console.log(persisted ? 'goes on' : 'begins');
await toPromise(actor.start());
console.log(`over: ${JSON.stringify(actor.getSnapshot().context.receipts)}`);

terminal.close();
inspector?.stop();
await executor.stop();
await ledger.close();
