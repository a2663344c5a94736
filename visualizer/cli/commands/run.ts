import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { Endpoint, SubmitAnswer, ToolCall } from '../../../machines/index.ts';
import { publicAddress } from '../../../persistence/index.ts';
import { conclude } from '../conclude.ts';
import { ExitCode } from '../exit-codes.ts';
import { CliFailure, usage } from '../failure.ts';
import { follow } from '../follow.ts';
import { Interrupts } from '../interrupts.ts';
import { orLoseSight } from '../lost-sight.ts';
import {
  type CommonOptions,
  collect,
  httpEndpoint,
  positiveMs,
  readHeaders,
  readJsonObject,
  withCommonOptions,
  withInspectOptions,
} from '../options.ts';
import { abandonServer } from '../orphan.ts';
import type { Output } from '../output.ts';
import { shortId } from '../text.ts';
import { adapterIds, atWork, type Workplace } from '../workplace.ts';
import type { Finish } from './finish.ts';

interface RunOptions extends CommonOptions {
  readonly url?: string;
  readonly tool: string;
  readonly args: string;
  readonly node?: string;
  readonly header?: readonly string[];
  readonly ttl?: number;
  readonly waitBudget?: number;
  readonly effectFree?: boolean;
  readonly protocol: string;
}

export function addRun(program: Command, finish: Finish): void {
  withInspectOptions(
    withCommonOptions(
      program
        .command('run')
        .summary('make one tool call and follow it to its receipt')
        .description('Makes one long-running tool call, follows it, and ends with what it came to.')
        .argument('[server-command...]', 'after --: the command of a stdio server')
        .option('--url <url>', 'a Streamable HTTP server, instead of a command')
        .requiredOption('--tool <name>', 'the tool to call')
        .option('--args <json>', 'its arguments, as a JSON object or @file', '{}')
        .option(
          '--node <id>',
          'the call node: the same id with the same request is the same operation (default: a fresh one)',
        )
        .option('--header <header>', "'Name: value' of each request; else TOOLOP_HEADERS, one a line", collect)
        .addOption(
          new Option('--protocol <adapter>', 'the protocol and its revision; a tool without tasks: sync')
            .choices(adapterIds)
            .default(adapterIds[0]),
        )
        .option('--ttl <ms>', 'how long the server is asked to keep the task', positiveMs)
        .option('--wait-budget <ms>', 'how long to wait before it is parked', positiveMs)
        .option('--effect-free', 'your word that the tool changes nothing outside'),
    ),
  )
    .addHelpText(
      'after',
      `
Examples:
  toolop run --tool report --args '{"month":"May"}' -- node server.js
  toolop run --url http://localhost:3001/mcp --tool report --args @args.json --node report:run7:1
  TOOLOP_HEADERS='Authorization: Bearer …' toolop run --url https://host/mcp --tool report --json

Ctrl-C over HTTP only stops waiting; over stdio, where the server ends with this command, it asks first.`,
    )
    .action(finish<RunOptions>((options, output, command) => run(options, output, command)));
}

async function run(options: RunOptions, output: Output, serverCommand: readonly string[]): Promise<ExitCode> {
  const call = callOf(options, serverCommand);
  const interrupts = new Interrupts({
    early: () => output.say('stopping as soon as it is known whether the call was taken; once more: leave at once'),
    impatient: () => {
      output.say(`left; to see whether there is an operation: toolop show ${call.callNodeId}`);
      process.exit(ExitCode.running);
    },
  });
  try {
    return await atWork(options, output, { makes: true, serves: true }, async (place) => {
      output.say(output.paint.dim(`node ${call.callNodeId}  ledger ${publicAddress(options.ledger)}`));
      const answer = await submit(place, call);
      const { operationId, existing } = answer;
      output.say(output.paint.dim(`operation ${operationId}${existing ? ' (it exists already: following it)' : ''}`));
      return orLoseSight(place, operationId, () => followed(place, { operationId, interrupts, call }));
    });
  } finally {
    interrupts.close();
  }
}

interface Followed {
  readonly operationId: string;
  readonly interrupts: Interrupts;
  readonly call: ToolCall;
}

async function followed(place: Workplace, { operationId, interrupts, call }: Followed): Promise<ExitCode> {
  const record = await place.ledger.load(operationId);
  const ownsServer = record?.scope === `process:${place.executor.processId}`;
  const ending = await follow(place, { operationId, interrupts, ownsServer });
  if ((ending === 'left' || ending === 'epochOver') && ownsServer) {
    place.output.say('leaving: the stdio server ends with this command, so the operation will be PARKED');
    await abandonServer(place, operationId);
  }
  const url = call.endpoint.kind === 'http' && new URL(call.endpoint.url).search ? ['--url', '…'] : [];
  return conclude(place, operationId, {
    ending,
    leaving: [
      `stopped waiting for ${shortId(operationId)}; nothing was cancelled. To go on:`,
      `  ${place.hint('attach', operationId, url)}`,
    ],
  });
}

/** The server did not get as far as to say what it can do: then what it printed may tell why. */
const NOT_READY = /^(the server's process|initialize:|tools\/list:)/;

async function submit(place: Workplace, call: ToolCall): Promise<Extract<SubmitAnswer, { kind: 'accepted' }>> {
  await place.executor.start();
  const answer = await place.executor.submit(call).catch((error: unknown) => {
    if (error instanceof z.ZodError) throw usage(`this is not a call: ${z.prettifyError(error).replaceAll('\n', ' ')}`);
    throw error;
  });
  if (answer.kind === 'accepted') return answer;
  const failedToStart = call.endpoint.kind === 'stdio' && NOT_READY.test(answer.reason);
  const { lines, told } = place.lastWords;
  throw new CliFailure(
    ExitCode.notSubmitted,
    `refused, nothing was sent: ${answer.reason}`,
    answer.next,
    {
      reason: answer.reason,
      callNodeId: call.callNodeId,
      ...(failedToStart ? { serverStderr: lines } : {}),
    },
    failedToStart ? told : [],
  );
}

function callOf(options: RunOptions, serverCommand: readonly string[]): ToolCall {
  return {
    callNodeId: options.node ?? `cli-${randomUUID()}`,
    endpoint: endpointOf(options, serverCommand),
    tool: options.tool,
    protocol: options.protocol,
    arguments: readJsonObject(options.args, '--args'),
    effectFree: options.effectFree === true,
    ...(options.principal === undefined ? {} : { principal: options.principal }),
    ...(options.ttl === undefined ? {} : { ttlMs: options.ttl }),
    ...(options.waitBudget === undefined ? {} : { policy: { waitBudgetMs: options.waitBudget } }),
  };
}

function endpointOf(options: RunOptions, serverCommand: readonly string[]): Endpoint {
  const [command, ...args] = serverCommand;
  if ((options.url === undefined) === (command === undefined)) {
    throw usage(
      options.url === undefined ? 'no server is named' : 'both --url and a server command are given',
      'give one: --url http://…/mcp, or -- command arguments…',
    );
  }
  if (options.url !== undefined) return httpEndpoint(options.url, readHeaders(options.header));
  if (options.header) throw usage('--header is for --url: a stdio server has no headers');
  return { kind: 'stdio', command: command as string, args };
}
