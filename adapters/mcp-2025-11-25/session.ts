import type { ProtocolSession, ResumeState } from '../../machines/operation-protocol.ts';
import { sessionContext } from '../mcp/context.ts';
import type { OpenedConnection } from '../mcp/open.ts';
import type { Settings } from '../mcp/options.ts';
import { cancel } from './cancel.ts';
import { InputHub } from './input.ts';
import { lookup } from './lookup.ts';
import { negotiate } from './negotiate.ts';
import { result } from './result.ts';
import { status } from './status.ts';
import { submit } from './submit.ts';

/** One live connection, as the executor sees it. */
export function createSession(
  opened: OpenedConnection,
  resume: ResumeState | undefined,
  settings: Settings,
): ProtocolSession {
  const context = sessionContext(opened.connection, opened.initialized, resume, settings);
  const input = new InputHub(context);
  if (opened.initialized === null) opened.listen();
  return {
    negotiate: (tool, args) => negotiate(context, tool, args),
    submit: (submission, options) => submit(context, submission, options),
    status: (task, signal) => status(context, task, signal),
    result: (task, terminal, signal) => result(context, task, terminal, signal),
    cancel: (task, signal) => cancel(context, task, signal),
    lookup: (submission, options) => lookup(context, submission, options?.signal),
    openInput: (task, events) => input.open(task, events),
    onGone: (listener) => opened.connection.onGone(listener),
    close: () => opened.close(),
  };
}
