/** The wire proxy in place of a server that a client starts. */
import { program, programBeside } from '../program.ts';
import type { StdioEndpoint } from '../servers/process.ts';
import type { RuleInput } from './rules.ts';

const MAIN = programBeside(import.meta.url, './main');

/**
 * The command of a proxy before a stdio server; nothing runs until a client starts it. While it runs,
 * `wireControls(controlPort)` talks to it (`freePort()` gives one). `rules`: met from its first message on; refused ones end
 * the proxy at its start.
 */
export function stdioProxy(
  behind: StdioEndpoint,
  controlPort: number,
  rules: readonly RuleInput[] = [],
): StdioEndpoint {
  const { command, args } = behind;
  const own = [...program(MAIN), '--control', String(controlPort), '--rules', JSON.stringify(rules)];
  return { ...behind, command: process.execPath, args: [...own, '--', command, ...args] };
}
