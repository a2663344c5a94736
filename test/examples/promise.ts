/**
 * The same without XState: an agent's tool call as a promise. Start it again after whatever happened: the call node is the same,
 * so it attaches to the operation that is there, and prints the same receipt.
 *
 *   node --import tsx test/examples/promise.ts http://127.0.0.1:3001/mcp .toolop/promise
 *
 * The server is the scripted one of MCP 2025-11-25 (`toolop/testing`).
 */
import { mcp20251125 } from 'toolop/adapters/mcp-2025-11-25';
import { createToolop, Executor, OperationError } from 'toolop/machines';
import { openLedger } from 'toolop/persistence';
import { z } from 'zod';

const [url = 'http://127.0.0.1:3001/mcp', directory = '.toolop/promise'] = process.argv.slice(2);
const script = { ms: Number(process.env.WORK_MS ?? 5_000) };

const ledger = await openLedger(`${directory}/ledger.db`, { namespace: 'agent' });
const executor = await new Executor({
  ...{ ledger, namespace: 'agent', protocols: [mcp20251125()] },
  leaseMs: 5_000, // how soon a step that a killed process was in the middle of is taken up again
}).start();
const toolop = createToolop({ executor });

// Stops the waiting, and nothing else: the operation goes on, and the next start waits for it again.
const patience = new AbortController();
process.once('SIGINT', () => patience.abort(new Error('left waiting; start again to go on')));

const running = toolop.run(
  {
    callNodeId: 'run-42/answer',
    endpoint: { kind: 'http', url },
    tool: 'typed',
    arguments: { script },
  },
  { output: z.object({ answer: z.number() }), signal: patience.signal },
);
try {
  for await (const { state, message } of running) console.log(`step: ${state}${message === null ? '' : ` ${message}`}`);
  const { output, receipt } = await running;
  console.log(`answer: ${output.answer} ${receipt.receiptId}`);
} catch (error) {
  if (error instanceof OperationError) console.log(`${error.name}: ${error.message}; next: ${error.next}`);
  else if (error === patience.signal.reason) console.log(`left: ${patience.signal.reason.message}`);
  else throw error;
} finally {
  await executor.stop();
  await ledger.close();
}
