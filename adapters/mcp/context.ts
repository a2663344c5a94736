import type { ResumeState } from '../../machines/operation-protocol.ts';
import type { Settings } from './options.ts';
import type { Connection } from './rpc/connection.ts';
import type { Tool } from './tools.ts';

/** What the methods of one session share. */
export interface SessionContext {
  readonly connection: Connection;
  readonly settings: Settings;
  /** What `initialize` answered; `null` for an earlier session that was taken up again: the record knows. */
  readonly initialized: {
    readonly protocolVersion: string;
    readonly capabilities: Readonly<Record<string, unknown>>;
  } | null;
  /** Tool name to the version that its calls are pinned to. */
  readonly pinned: Map<string, string>;
  /** Descriptors read on this session, by version. */
  readonly tools: Map<string, Tool>;
}

/** A session begins with what it was opened with, and the tool that its calls are pinned to. */
export const sessionContext = (
  connection: Connection,
  initialized: SessionContext['initialized'],
  resume: ResumeState | undefined,
  settings: Settings,
): SessionContext => ({
  connection,
  settings,
  initialized,
  pinned: new Map(resume === undefined ? [] : [[resume.tool.name, resume.tool.version]]),
  tools: new Map(),
});

export function hasSession(context: SessionContext): boolean {
  return context.connection.sessionId !== null;
}
