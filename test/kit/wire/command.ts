/** The wire proxy in place of a server that a client starts. */
import { program, programBeside } from '../program.ts';
import type { StdioEndpoint } from '../servers/process.ts';
import { readRules } from './control.ts';
import type { RuleInput } from './rules.ts';

const MAIN = programBeside(import.meta.url, './main');

/**
 * The command of a proxy before a stdio server; nothing runs until a client starts it. While it runs,
 * `wireControls(controlPort)` talks to it (`freePort()` gives one). `rules`: met from its first message on; for refused ones it
 * throws.
 */
export function stdioProxy(
  behind: StdioEndpoint,
  controlPort: number,
  rules: readonly RuleInput[] = [],
): StdioEndpoint {
  readRules({ rules }, 'stdio');
  const { command, args } = behind;
  const own = [...program(MAIN), '--control', String(controlPort), '--rules', JSON.stringify(rules)];
  return { ...behind, command: process.execPath, args: [...own, '--', command, ...args] };
}
