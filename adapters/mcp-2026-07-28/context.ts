import type { SessionContext } from '../mcp/context.ts';
import type { Tool } from '../mcp/tools.ts';

/** What the methods of one connection share. `initialized` holds what `server/discover` answered last. */
export interface Context extends SessionContext {
  initialized: SessionContext['initialized'];
  /** The descriptor of a tool as it was read last, by name. */
  readonly latest: Map<string, Tool>;
}
