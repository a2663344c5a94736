/** The official `@modelcontextprotocol/ext-tasks`: what both of its generations have in common. */
import type {
  SerializedTaskReference,
  TaskEnabledSession,
  TaskOutcome,
  ToolExecution,
} from '@modelcontextprotocol/ext-tasks/client';
import type { Told } from '../history.ts';
import { errorText, resultText } from '../text.ts';
import { type Client, goingOn, type Scene, type Waiting } from './contender.ts';

/** A session on a connected client, as its README shows it. */
export interface Opened {
  readonly session: TaskEnabledSession;
  close(): Promise<void>;
}

type Execution = ToolExecution<unknown>;

export function processOf(scene: Scene, memory: Map<string, unknown>, { session, close }: Opened): Client {
  const executions = new Set<Execution>();
  const wait = (start: (signal: AbortSignal) => Promise<Execution>): Waiting => {
    const calling = new AbortController();
    const started = start(calling.signal).then((execution) => {
      executions.add(execution);
      if (execution.kind === 'task') memory.set('reference', execution.serializeReference());
      return execution;
    });
    return waitingFor(scene, session, started, calling);
  };
  const { requestTimeoutMs } = scene;
  return {
    call: () =>
      wait((signal) =>
        session.callTool(scene.tool, scene.arguments as never, {
          task: { preference: 'prefer' },
          requestTimeoutMs,
          signal,
        }),
      ),
    comeBack: async () =>
      wait((signal) => {
        const reference = memory.get('reference') as SerializedTaskReference;
        return session.resumeTask(reference, { requestTimeoutMs, signal });
      }),
    async close() {
      await Promise.all([...executions].map((execution) => execution.detach().catch(() => undefined)));
      await close();
    },
  };
}

function waitingFor(
  scene: Scene,
  session: TaskEnabledSession,
  started: Promise<Execution>,
  calling: AbortController,
): Waiting {
  const stop = new AbortController();
  let execution: Execution | null = null;
  const told = started
    .then((one) => {
      execution = one;
      return one.settle({ signal: stop.signal });
    })
    .then(({ outcome }) => goingOn(scene, toldOf(outcome)))
    .catch((error: unknown): Told => ({ kind: 'error', text: errorText(error) }));
  return {
    told,
    async cancel() {
      // Before there is a task, the signal of the call is all that a caller has.
      if (execution === null) calling.abort(new Error('the caller cancels'));
      else await execution.cancel();
    },
    async leave() {
      stop.abort(new Error('the caller stopped waiting'));
      await session.close();
    },
  };
}

function toldOf(outcome: TaskOutcome<unknown>): Told {
  switch (outcome.status) {
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'failed':
      return { kind: 'failed', text: errorText(outcome.error) };
    case 'completed': {
      const { result } = outcome;
      const isError = (result as { readonly isError?: boolean }).isError === true;
      return { kind: 'completed', text: resultText(result), isError };
    }
  }
}
