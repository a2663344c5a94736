import type { ProtocolSession, ResumeState } from '../../machines/operation-protocol.ts';
import { sessionContext } from '../mcp/context.ts';
import type { OpenedConnection } from '../mcp/open.ts';
import type { Settings } from '../mcp/options.ts';
import { lookup } from './lookup.ts';
import { negotiate } from './negotiate.ts';
import { submit } from './submit.ts';

/** There is no task: what is asked about one (an id that a human attached, say) is answered so, and nothing is sent. */
const NO_TASK = 'a synchronous call has no task that could be asked about';

/** One live connection, as the executor sees it. */
export function createSession(
  opened: OpenedConnection,
  resume: ResumeState | undefined,
  settings: Settings,
): ProtocolSession {
  const context = sessionContext(opened.connection, opened.initialized, resume, settings);
  return {
    negotiate: (tool, args) => negotiate(context, tool, args),
    submit: (submission, options) => submit(context, submission, options),
    status: async () => ({ kind: 'notFound', reason: NO_TASK }),
    result: async () => ({ kind: 'notFound', reason: NO_TASK }),
    cancel: async () => ({ kind: 'unsupported', reason: `${NO_TASK}: it can only be waited for` }),
    lookup: (submission, options) => lookup(context, submission, options?.signal),
    openInput: () => {
      throw new Error(`${NO_TASK}: nobody is asked for input during it`);
    },
    onGone: (listener) => opened.connection.onGone(listener),
    close: () => opened.close(),
  };
}
