import type { ProtocolSession } from '../../machines/operation-protocol.ts';
import { cancel } from './cancel.ts';
import type { SessionContext } from './context.ts';
import { lookup } from './lookup.ts';
import { negotiate } from './negotiate.ts';
import { result } from './result.ts';
import { status } from './status.ts';
import { submit } from './submit.ts';

/** One API, as the executor sees it. There is no session on the wire: every request stands for itself. */
export function createSession(context: SessionContext): ProtocolSession {
  return {
    negotiate: async (tool, args) => negotiate(context.settings, tool, args),
    submit: (submission, options) => submit(context, submission, options),
    status: (task, signal) => status(context, task, signal),
    result: (task, terminal, signal) => result(context, task, terminal, signal),
    cancel: (task, signal) => cancel(context, task, signal),
    lookup: (request, options) => lookup(context, request, options),
    openInput: () => {
      throw new Error('AIP-151 has no input: an operation never asks');
    },
    // A server behind an address is never known to be gone for good.
    onGone: () => undefined,
    close: async () => context.link.close(),
  };
}
