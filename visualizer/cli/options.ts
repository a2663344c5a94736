/** Options of all commands, and the reading of what a user typed. */
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { jsonProblem } from '../../machines/digest.ts';
import type { Endpoint } from '../../machines/index.ts';
import { usage } from './failure.ts';
import { inspectTarget } from './ports.ts';

export const DEFAULT_LEDGER = '.toolop/ledger.db';
const DEFAULT_HISTORY = '.toolop/history.json';
export const DEFAULT_PRINCIPAL = 'local';

/** Of the commands that follow an operation. */
export interface InspectOptions {
  /** A port for a bridge, `true`: any that is free; an address: of a receiver that is there. */
  readonly inspect?: number | string | true;
  readonly inspectContext?: 'counters' | 'full';
}

export interface CommonOptions extends InspectOptions {
  readonly ledger: string;
  readonly namespace: string;
  readonly historyFile?: string;
  readonly principal?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

export function withCommonOptions(command: Command): Command {
  return command
    .option(
      '--ledger <address>',
      'redis://…, redis+cluster://…, redis+sentinel://… or the path of a file',
      process.env.TOOLOP_LEDGER || DEFAULT_LEDGER,
    )
    .option('--namespace <name>', 'separates the operations of unrelated programs', 'default')
    .option(
      '--history-file <path>',
      'what was seen of the ledger is remembered there (default: TOOLOP_HISTORY, else beside the ledger file, or .toolop/history.json; none: nowhere)',
    )
    .option('--principal <name>', `on whose behalf a call is made (default: "${DEFAULT_PRINCIPAL}")`)
    .option('--json', 'machine-readable output on stdout')
    .option('--verbose', 'log lines on stderr');
}

export function withInspectOptions(command: Command): Command {
  return command
    .option(
      '--inspect [port|address]',
      'show it in the Stately inspector, by a bridge on this machine, or in `toolop inspect`, by its ws:// address',
      inspectTarget,
    )
    .addOption(
      new Option(
        '--inspect-context <what>',
        'what the inspector gets of the record: counters only, or all of it, ids and words too',
      )
        .choices(['counters', 'full'])
        .default('counters'),
    );
}

/** Where it is remembered how far the ledger had come, so that one that has forgotten steps is noticed. */
export function historyFileOf({ historyFile, ledger }: CommonOptions): string | null {
  const named = historyFile ?? process.env.TOOLOP_HISTORY;
  if (named === 'none') return null;
  if (named) return named;
  return isFile(ledger) ? `${ledger}.history.json` : DEFAULT_HISTORY;
}

/** An address without a scheme is a path. */
export const isFile = (ledger: string): boolean => !/^[a-z][a-z+.-]*:\/\//i.test(ledger);

/** A header may come often; a value may hold colons. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export function positiveMs(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw new InvalidArgumentError('it is a whole number of ms above 0.');
  return value;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** An age as `30d`, in ms. */
export function age(text: string): number {
  const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined) {
    throw new InvalidArgumentError('it is a whole number of s, m, h or d, as 30d.');
  }
  return Number(digits) * (UNITS[unit] ?? 0);
}

export function positiveCount(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw new InvalidArgumentError('it is a whole number above 0.');
  return value;
}

/** JSON, or `@file` with JSON in it. `where` names the option in messages. */
export function readJson(text: string, where: string): unknown {
  let source = text;
  if (text.startsWith('@')) {
    try {
      source = readFileSync(text.slice(1), 'utf8');
    } catch (error) {
      throw usage(`${where}: the file ${text.slice(1)} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }
  const value = parsed(source, where);
  const problem = jsonProblem(value);
  if (problem !== null) throw usage(`${where} cannot be taken: ${problem}`);
  return value;
}

function parsed(source: string, where: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    throw usage(
      `${where} is not JSON: ${(error as Error).message}`,
      `quote it for the shell, as in ${where} '{"topic":"tides"}', or put it into a file: ${where} @file.json`,
    );
  }
}

/** The same, where only a JSON object will do. */
export function readJsonObject(text: string, where: string): Record<string, unknown> {
  const value = readJson(text, where);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw usage(`${where} is to be a JSON object, as in '{"topic":"tides"}'`);
  }
  return value as Record<string, unknown>;
}

/** Credentials of this process: from the flags, else from TOOLOP_HEADERS (one per line). Never stored, never printed. */
export function readHeaders(flags: readonly string[] | undefined): Record<string, string> {
  const lines = flags ?? (process.env.TOOLOP_HEADERS ?? '').split('\n').filter((line) => line.trim() !== '');
  const headers: Record<string, string> = {};
  for (const [index, line] of lines.entries()) {
    const match = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([^\r\n\0]*?)\s*$/.exec(line);
    if (!match?.[1]) throw usage(`header ${index + 1} is not of the form 'Name: value'`);
    headers[match[1]] = match[2] ?? '';
  }
  return headers;
}

export function httpEndpoint(url: string, headers: Readonly<Record<string, string>>): Endpoint & { kind: 'http' } {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw usage('--url is to be an http:// or https:// address');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw usage('--url holds a user name or password', 'give credentials by --header or TOOLOP_HEADERS');
  }
  return { kind: 'http', url, headers };
}
