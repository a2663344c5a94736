import type { ProtocolSession, ResumeState } from '../../machines/operation-protocol.ts';
import { sessionContext } from '../mcp/context.ts';
import type { Link } from '../mcp/links.ts';
import type { Settings } from '../mcp/options.ts';
import { answerInput } from './answer-input.ts';
import { cancel } from './cancel.ts';
import type { Context } from './context.ts';
import { Listener } from './listen.ts';
import { lookup } from './lookup.ts';
import { negotiate } from './negotiate.ts';
import { result } from './result.ts';
import { status } from './status.ts';
import { submit } from './submit.ts';

/** One connection, as the executor sees it. It holds nothing that a task depends on. */
export function createSession(link: Link, resume: ResumeState | undefined, settings: Settings): ProtocolSession {
  const context: Context = { ...sessionContext(link.connection, null, resume, settings), latest: new Map() };
  const listener = link.connection.overHttp ? new Listener(context) : null;
  return {
    negotiate: (tool, args) => negotiate(context, () => link.ending(), tool, args),
    submit: (submission, options) => submit(context, submission, options),
    status: (task, signal) => status(context, task, signal),
    result: (task, terminal, signal) => result(context, task, terminal, signal),
    cancel: (task, signal) => cancel(context, task, signal),
    lookup: (submission, options) => lookup(context, submission, options?.signal),
    openInput() {
      throw new Error("on this revision a task's questions come with its status, not on a channel");
    },
    answerInput: (task, replies, signal) => answerInput(context, task, replies, signal),
    ...(listener === null ? {} : { watch: (task, changed) => listener.watch(task.taskId, changed) }),
    onGone: (listener) => link.connection.onGone(listener),
    close() {
      listener?.stop();
      return link.close();
    },
  };
}
