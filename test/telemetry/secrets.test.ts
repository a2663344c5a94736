import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PlainError, wordsOf } from '../../machines/actor/log.ts';
import { type Executor, LedgerUnavailable, type LogEntry } from '../../machines/index.ts';
import type { Script } from '../kit/servers/mcp-2025-11-25.ts';
import { accepted, eventually, FAST, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';
import { startTelemetry, type Telemetry } from './sdk.ts';

const ARGUMENT = 'argument-4711';
const PASSWORD = 'password-4711';
const TOKEN = 'token-4711';
const HEADER = 'header-4711';
const ANSWER = 'answer-4711';

describe('secrets in what is logged, traced and measured', () => {
  const stage = useStage('embedded');
  let telemetry: Telemetry;
  beforeAll(() => {
    telemetry = startTelemetry();
  });
  afterAll(() => telemetry.stop());

  it('no task id, session, argument, result, answer, or credential of a URL or header, whatever goes wrong', async () => {
    const server = await stage().server({ lookup: true });
    const url = new URL(server.url);
    url.username = 'user';
    url.password = PASSWORD;
    url.search = `?token=${TOKEN}`;
    const endpoint = { kind: 'http', url: url.href, headers: { authorization: HEADER } } as const;
    const logged: LogEntry[] = [];
    const results: string[] = [];
    let guarded = 0;
    const executor = await stage().rig.executor({
      policy: { ...FAST, cancelBudgetMs: 500 },
      log: (entry) => logged.push(entry),
      outputGuards: [
        (output) => {
          guarded++;
          results.push(JSON.stringify(output.value));
          throw new Error(`cannot judge ${JSON.stringify(output)}`);
        },
      ],
      approval: {
        ask: async (round) => {
          throw new Error(`cannot show ${JSON.stringify(round)} or take ${ANSWER}`);
        },
      },
    });
    const call = (script: Script) => workCall(endpoint, script, { arguments: { label: ARGUMENT, script } });
    const hold = (executorOf: Executor, id: string) => until(executorOf, id, (state) => state === 'WORKING.polling');

    const completed = await accepted(executor, call({ ms: 20 }));
    await executor.wait(completed);
    const failed = await accepted(executor, call({ outcome: 'rpcError' }));
    await executor.wait(failed);
    const asked = await accepted(executor, call({ ask: 1 }));
    await eventually(async () => logged.some(({ event }) => event === 'approval.failed'));
    const cancelled = await accepted(executor, call({ outcome: 'hold' }));
    await hold(executor, cancelled);
    await executor.cancel(cancelled, 'somebody', ANSWER);
    await executor.wait(cancelled);
    const lost = await accepted(executor, call({ outcome: 'hold' }));
    await hold(executor, lost);
    for (const kind of ['truncate', 'reset', 'malformed'] as const) {
      await server.control({ op: 'fault', kind, method: 'tasks/get' });
    }
    await server.control({ op: 'fault', kind: 'rpc', code: -32603, message: `no ${ARGUMENT}`, method: 'tasks/get' });
    await server.control({ op: 'forget', taskId: 'last' });
    const parked = await until(executor, lost, (state) => state.startsWith('PARKED'));
    await executor.reconcile(lost, 'somebody', { verb: 'give-up', note: ANSWER });
    await executor.wait(lost);
    await executor.cancel(asked, 'somebody', null);
    await executor
      .shadow(call({}), async () => {
        throw new Error(ARGUMENT);
      })
      .catch(() => undefined);
    expect((await executor.cancel(completed, ANSWER, ANSWER)).kind).toBe('refused');

    expect(guarded).toBeGreaterThan(0);
    const { created } = await server.log();
    expect(created.length).toBeGreaterThan(4);
    const { sessionId } = parked.snapshot.context.session;
    const secrets = [
      ARGUMENT,
      PASSWORD,
      TOKEN,
      HEADER,
      ANSWER,
      ...created,
      ...results,
      ...(sessionId ? [sessionId] : []),
    ];
    const everything = {
      logged: JSON.stringify(logged),
      traced: JSON.stringify(
        telemetry
          .spans()
          .map(({ name, attributes, events, status, links }) => [name, attributes, events, status, links]),
      ),
      measured: JSON.stringify((await telemetry.collected())?.scopeMetrics),
    };
    expect(logged.length).toBeGreaterThan(3);
    expect(telemetry.spans().length).toBeGreaterThan(20);
    for (const [what, text] of Object.entries(everything)) {
      for (const secret of secrets) expect([what, text.includes(secret) ? secret : null]).toEqual([what, null]);
    }
  });
});

describe('the words of an error in a log', () => {
  class Ours extends PlainError {}

  it('are its own where it is ours', () => {
    expect(wordsOf(new Ours('it was so'))).toBe('it was so');
    expect(wordsOf(new LedgerUnavailable('away'))).toBe('away');
  });

  it('are its kind, its code and where it came from otherwise', () => {
    function parse(): never {
      return JSON.parse(`{"${ARGUMENT}`) as never;
    }
    try {
      parse();
    } catch (error) {
      expect(wordsOf(error)).toMatch(/^SyntaxError in .*parse/);
      expect(wordsOf(error)).not.toContain(ARGUMENT);
    }
    expect(wordsOf(Object.assign(new Error(ARGUMENT), { code: 'EPIPE' }))).toMatch(/^Error \(EPIPE\)/);
    expect(wordsOf(Object.assign(new Error('x'), { code: ARGUMENT }))).not.toContain(ARGUMENT);
    expect(wordsOf(new Error(`a\n    at ${'secret_4711'} (file)`))).not.toContain('secret_4711');
    expect(wordsOf(ARGUMENT)).not.toContain(ARGUMENT);
  });
});
