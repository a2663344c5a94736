/** What each command works with: an open ledger and an executor on it, closed however the command ends. */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../adapters/mcp-2026-07-28/index.ts';
import { synchronous } from '../../adapters/sync/index.ts';
import {
  Executor,
  type OperationLedger,
  type OperationProtocol,
  shadowNamespace,
  systemClock,
} from '../../machines/index.ts';
import { openLedger, publicAddress } from '../../persistence/index.ts';
import type { Inspection } from '../inspect/inspection.ts';
import { ExitCode } from './exit-codes.ts';
import { asFailure, CliFailure, usage } from './failure.ts';
import { inspectionOf } from './inspected.ts';
import { LastWords } from './last-words.ts';
import { type CommonOptions, DEFAULT_LEDGER, historyFileOf, isFile } from './options.ts';
import type { Output } from './output.ts';
import { shellWord, shortId } from './text.ts';

/** How long a command waits for a store that does not answer, ms: to be opened, and for a step that only asks. */
const PATIENCE_MS = 5_000;
/** After this long, ms, a user should know what is being waited for. */
const SILENCE_MS = 1_000;
/** How long what is under way may take to be put down, ms. An absent ledger is not waited for. */
const LEAVE_MS = 5_000;

/** The namespace of another one's shadows: looked at like any other, and of its own kind. */
const SHADOWS = /^(.+)\/shadow$/;

export interface Workplace {
  readonly options: CommonOptions;
  readonly output: Output;
  readonly ledger: OperationLedger;
  /** Not started: writes commands and reads. A command that serves starts it. */
  readonly executor: Executor;
  /** What the stdio server of this command said on stderr. */
  readonly lastWords: LastWords;
  /** Where the followed operation is shown, too. */
  readonly inspection: Inspection | null;
  /** Who asks, as it stands in the record. */
  readonly by: string;
  /** A second executor on the same ledger, for what the first one left behind. */
  successor(): Executor;
  /** A command line of this tool that works on the same ledger. */
  hint(command: string, operationId: string, rest?: readonly string[]): string;
}

export interface WorkplaceNeeds {
  /** The ledger of the namespace's shadows, in place of the namespace's own. */
  readonly shadows?: boolean;
  /** The command begins an operation, so a ledger that is not there yet is made. */
  readonly makes?: boolean;
  /** The command serves operations: losing a step to impatience would cost an outcome. */
  readonly serves?: boolean;
}

const protocolsWith = (lastWords: LastWords): readonly OperationProtocol[] => [
  mcp20251125({ stderr: lastWords.take }),
  mcp20260728({ stderr: lastWords.take }),
  synchronous({ stderr: lastWords.take }),
];
/** What this command can speak. */
export const adapterIds: readonly string[] = protocolsWith(new LastWords()).map(({ id }) => id);

export async function atWork(
  options: CommonOptions,
  output: Output,
  needs: WorkplaceNeeds,
  work: (place: Workplace) => Promise<ExitCode>,
): Promise<ExitCode> {
  const ledger = await open(options, output, needs);
  const lastWords = new LastWords();
  let away = false;
  const executors: Executor[] = [];
  const hire = () => {
    const executor = new Executor({
      ledger,
      namespace: needs.shadows ? shadowNamespace(options.namespace) : options.namespace,
      protocols: protocolsWith(lastWords),
      log: output.log,
    });
    executors.push(executor);
    return executor;
  };
  let inspection: Inspection | null = null;
  try {
    inspection = await inspectionOf(options, output, ledger);
    return await work({
      inspection,
      options,
      output,
      ledger,
      executor: hire(),
      lastWords,
      by: `cli:${userName()}`,
      successor: hire,
      hint: (command, operationId, rest = []) =>
        ['toolop', command, shortId(operationId), ...rest, ...sameLedger(options)].map(shellWord).join(' '),
    });
  } catch (error) {
    away = asFailure(error).exitCode === ExitCode.ledger;
    throw error;
  } finally {
    await inspection?.close();
    const stopped = Promise.all(executors.map((executor) => executor.stop().catch(() => undefined)));
    // What waits for an absent ledger is ended by closing it.
    if (!away) {
      const gone = new AbortController();
      await Promise.race([stopped, systemClock.sleep(LEAVE_MS, gone.signal)]);
      // The process would wait for a timer that nobody waits for.
      gone.abort();
    }
    await ledger.close().catch(() => undefined);
    await stopped;
  }
}

async function open(options: CommonOptions, output: Output, needs: WorkplaceNeeds): Promise<OperationLedger> {
  const { ledger: address, namespace } = options;
  if (isFile(address) && !needs.makes && !existsSync(address)) {
    throw new CliFailure(
      ExitCode.ledger,
      `there is no ledger at ${address}`,
      'give its address by --ledger or TOOLOP_LEDGER; `toolop run` makes one',
    );
  }
  const historyFile = historyFileOf(options);
  const slow = setTimeout(() => output.say(`trying the ledger at ${publicAddress(address)} …`), SILENCE_MS);
  const own = SHADOWS.exec(namespace)?.[1];
  try {
    return await openLedger(address, {
      ...(needs.shadows ? { namespace, kind: 'shadow' } : own ? { namespace: own, kind: 'shadow' } : { namespace }),
      openWithinMs: PATIENCE_MS,
      ...(historyFile === null ? {} : { historyFile }),
      ...(needs.serves ? {} : { definiteWithinMs: PATIENCE_MS, attemptMs: PATIENCE_MS / 2 }),
    });
  } catch (error) {
    if (error instanceof RangeError) throw usage(error.message);
    throw error;
  } finally {
    clearTimeout(slow);
  }
}

function sameLedger(options: CommonOptions): readonly string[] {
  const fromEnvironment = options.ledger === (process.env.TOOLOP_LEDGER || DEFAULT_LEDGER);
  return [
    ...(fromEnvironment ? [] : ['--ledger', publicAddress(options.ledger)]),
    ...(options.namespace === 'default' ? [] : ['--namespace', options.namespace]),
  ];
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id that has no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}
