/** The proxy itself: each kind of rule, on both transports, before a real server, with the SDK's own client. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema, ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuleInput } from '../kit/wire/rules.ts';
import type { Fate } from '../kit/wire/wire.ts';
import { eventually } from '../support/rig.ts';
import { type HttpLine, openHttpLine, openStdioLine, type WireLine } from './lines.ts';

const JSON_ANSWERS = { json: true } as const;

describe.each(['stdio', 'http', 'http with JSON answers'] as const)('the wire proxy on %s', (transport) => {
  let shared: HttpLine | null = null;
  let open: { readonly line: WireLine; readonly client: Client } | null = null;
  let line: WireLine;
  let client: Client;
  /** What earlier tests on the same connection left in the logs. */
  let old: { readonly lines: number; readonly counts: Readonly<Record<string, number>> };

  beforeAll(async () => {
    if (transport !== 'stdio') shared = await openHttpLine(transport === 'http' ? {} : JSON_ANSWERS);
  });
  afterAll(async () => {
    await open?.client.close();
    await open?.line.close();
    await shared?.stop();
  });

  /** A client that has shaken hands before the rules are set; the one of the test before, if it is still connected. */
  async function connect(...rules: readonly RuleInput[]): Promise<void> {
    open ??= await start();
    ({ line, client } = open);
    client.onclose = () => {
      open = null;
    };
    await line.wire.rules(rules);
    old = { lines: (await line.wire.log()).lines.length, counts: (await line.server.log()).counts };
  }
  async function start() {
    const line = shared ? await shared.anew() : await openStdioLine({});
    const client = new Client({ name: 'probe', version: '1.0.0' }, { capabilities: { elicitation: {} } });
    client.onerror = () => undefined;
    // The SDK's class does not satisfy its own interface under `exactOptionalPropertyTypes`.
    await client.connect(transportOf(line) as Transport);
    return { line, client };
  }
  const ask = (method: string, params: Record<string, unknown> = {}, timeout = 2_000) =>
    client.request({ method, params }, ResultSchema, { timeout });
  const list = (timeout?: number) => ask('tools/list', {}, timeout);
  /** What came to the server, and what the proxy says of it. */
  const seen = async (method = 'tools/list') =>
    ((await line.server.log()).counts[method] ?? 0) - (old.counts[method] ?? 0);
  const fates = async (direction: string, method = 'tools/list'): Promise<Fate[]> =>
    (await line.wire.log()).lines
      .slice(old.lines)
      .filter((met) => met.method === method && met.direction === direction)
      .map(({ fate }) => fate);

  it('hands everything on, and writes down what passed', async () => {
    await connect();
    const { lines: earlier } = await line.wire.log();
    const before = Date.now();
    expect(await list()).toHaveProperty('tools');
    expect(earlier).toHaveLength(3);
    const { lines } = await line.wire.log();
    expect(lines.map(({ method, direction, from }) => `${from} ${direction} ${method}`)).toEqual([
      'client request initialize',
      'server response initialize',
      'client notification notifications/initialized',
      'client request tools/list',
      'server response tools/list',
    ]);
    for (const { at, fate } of lines.slice(-2)) {
      expect(fate).toBe('passed');
      expect(at).toBeGreaterThanOrEqual(before);
    }
  });

  it('drop: a request never reaches the server; nth and times choose which', async () => {
    await connect({ method: 'tools/list', direction: 'request', nth: 2, times: 2, action: { kind: 'drop' } });
    await list();
    await expect(list(400)).rejects.toThrow();
    await expect(list(400)).rejects.toThrow();
    await list();
    expect(await seen()).toBe(2);
    expect(await fates('request')).toEqual(['passed', 'lost', 'lost', 'passed']);
  });

  it('drop: the server has answered, and nobody hears it', async () => {
    await connect({ method: 'tools/list', direction: 'response', action: { kind: 'drop' } });
    await expect(list(400)).rejects.toThrow();
    expect(await seen()).toBe(1);
    expect(await fates('response')).toEqual(['lost']);
  });

  it('drop: a notification', async () => {
    const gone = 'notifications/progress';
    await connect({ method: gone, direction: 'notification', action: { kind: 'drop' } });
    for (const progress of [1, 2]) {
      await client.notification({ method: gone, params: { progressToken: 1, progress } }).catch(() => undefined);
    }
    await eventually(async () => (await seen(gone)) === 1);
    expect(await fates('notification', gone)).toEqual(['lost', 'passed']);
  });

  it('delay: a request arrives late, also when its sender has stopped waiting', async () => {
    await connect({ method: 'tools/list', direction: 'request', action: { kind: 'delay', ms: 500 } });
    await expect(list(150)).rejects.toThrow();
    expect(await seen()).toBe(0);
    await eventually(async () => (await seen()) === 1);
    expect(await fates('request')).toEqual(['held', 'passed']);
  });

  it('delay: a response is late, and others overtake it', async () => {
    await connect({ method: 'tools/list', direction: 'response', action: { kind: 'delay', ms: 300 } });
    const order: string[] = [];
    await Promise.all([list().then(() => order.push('first')), list().then(() => order.push('second'))]);
    expect(order).toEqual(['second', 'first']);
  });

  it('duplicate: a request reaches the server twice, a response the client twice', async () => {
    await connect(
      { method: 'tools/list', direction: 'request', action: { kind: 'duplicate' } },
      { method: 'tasks/get', direction: 'response', action: { kind: 'duplicate' } },
    );
    await list();
    await eventually(async () => (await seen()) === 2);
    const stray = new Promise<Error>((resolve) => {
      client.onerror = resolve;
    });
    await expect(ask('tasks/get', { taskId: 'unknown' })).rejects.toThrow('Task not found');
    expect((await stray).message).toContain('unknown message ID');
    expect(await fates('response', 'tasks/get')).toEqual(['passed', 'passed']);
  });

  it('reorder: a response is held until the next one passed', async () => {
    await connect({ method: 'tools/list', direction: 'response', action: { kind: 'reorder' } });
    const order: string[] = [];
    const first = list(5_000).then(() => order.push('first'));
    await eventually(async () => (await fates('response')).includes('held'));
    await list().then(() => order.push('second'));
    await first;
    expect(order).toEqual(['second', 'first']);
    expect(await fates('response')).toEqual(['held', 'passed', 'passed']);
  });

  it('reorder: a request is held behind one of another method; new rules let go of what is held', async () => {
    await connect({
      method: 'tools/list',
      direction: 'request',
      action: { kind: 'reorder', behind: 'ping' },
      times: 2,
    });
    const first = list(5_000);
    await eventually(async () => (await fates('request')).includes('held'));
    expect(await seen()).toBe(0);
    await ask('ping');
    await first;
    const second = list(5_000);
    await eventually(async () => (await fates('request')).filter((fate) => fate === 'held').length === 2);
    await line.wire.rules([]);
    await second;
    expect(await seen()).toBe(2);
  });

  it('truncate: half a response comes, then the connection is closed', async () => {
    await connect({ method: 'tools/list', direction: 'response', action: { kind: 'truncate' } });
    await expect(list(400)).rejects.toThrow();
    if (transport === 'stdio') await eventually(async () => open === null);
    else expect([await seen(), await fates('response')]).toEqual([1, ['cut']]);
  });

  it('truncate: half a request comes, and is no request', async () => {
    await connect({ method: 'tools/list', direction: 'request', action: { kind: 'truncate' } });
    await expect(list(400)).rejects.toThrow();
    if (transport === 'stdio') await eventually(async () => open === null);
    else expect([await seen(), await fates('request')]).toEqual([0, ['cut']]);
  });

  it('replace: by an error, a result, or text that is no message; a replaced request never reaches the server', async () => {
    const error = { code: -32123, message: 'from the wire' };
    await connect(
      { method: 'tools/list', direction: 'response', action: { kind: 'replace', with: { error } } },
      {
        method: 'tools/list',
        direction: 'request',
        nth: 2,
        action: { kind: 'replace', with: { result: { tools: ['none'] } } },
      },
      { method: 'tools/list', direction: 'response', nth: 2, action: { kind: 'replace', with: { body: 'oops' } } },
    );
    await expect(list()).rejects.toThrow('from the wire');
    expect(await list()).toEqual({ tools: ['none'] });
    expect(await seen()).toBe(1);
    await expect(list(400)).rejects.toThrow();
    expect(await fates('request')).toEqual(['passed', 'replaced', 'passed']);
    expect(await fates('response')).toEqual(['replaced', 'replaced']);
  });

  // A server that answers with JSON has no stream to ask on.
  it.skipIf(transport.endsWith('JSON answers'))(
    'works on the requests of the server, too, and on their answers',
    async () => {
      await connect(
        { method: 'elicitation/create', direction: 'request', action: { kind: 'drop' } },
        { method: 'elicitation/create', direction: 'response', action: { kind: 'drop' } },
        { method: 'elicitation/create', direction: 'request', nth: 3, action: { kind: 'duplicate' } },
      );
      let asked = 0;
      client.setRequestHandler(ElicitRequestSchema, async () => {
        asked += 1;
        return { action: 'accept' as const, content: { word: String(asked) } };
      });
      // A question that is lost, one whose answer is lost, and one that comes twice.
      for (let task = 0; task < 3; task++) {
        await ask('tools/call', { name: 'work', arguments: { script: { ask: 1 } }, task: {} });
        const taskId = (await line.server.log()).created.at(-1) ?? '';
        await ask('tasks/result', { taskId }, 400).catch(() => undefined);
      }
      await eventually(async () => asked === 3);
      expect(await fates('request', 'elicitation/create')).toEqual(['lost', 'passed', 'passed', 'passed']);
      expect((await fates('response', 'elicitation/create'))[0]).toBe('lost');
      expect((await line.server.log()).answers).toHaveLength(1);
    },
  );

  it('refuses rules that mean nothing, and keeps those it has', async () => {
    await connect({ method: 'tools/list', direction: 'request', action: { kind: 'drop' } });
    const refused: readonly unknown[] = [
      { method: 'x', direction: 'sideways', action: { kind: 'drop' } },
      { method: 'x', direction: 'request', action: { kind: 'explode' } },
      { method: 'x', direction: 'request', nth: 0, action: { kind: 'drop' } },
      { method: 'x', direction: 'request', action: { kind: 'drop', ms: 1 } },
      { method: 'x', direction: 'notification', action: { kind: 'replace', with: { result: {} } } },
      ...(transport === 'stdio'
        ? [{ method: 'x', direction: 'request', action: { kind: 'replace', with: { status: 503 } } }]
        : []),
    ];
    for (const rule of refused) await expect(line.wire.rules([rule as RuleInput])).rejects.toThrow('rules refused');
    await expect(list(400)).rejects.toThrow();
  });

  it.runIf(transport !== 'stdio')('replace: by an HTTP status, before or after the server has done it', async () => {
    const busy = { status: 429, retryAfter: '7', body: 'busy' };
    await connect(
      { method: 'tools/list', direction: 'request', action: { kind: 'replace', with: busy } },
      { method: 'tools/list', direction: 'response', action: { kind: 'replace', with: { status: 503 } } },
    );
    const url = line.endpoint.kind === 'http' ? line.endpoint.url : '';
    const plain = await fetch(url, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect([plain.status, plain.headers.get('retry-after'), await plain.text()]).toEqual([429, '7', 'busy']);
    expect(await seen()).toBe(0);
    await expect(list()).rejects.toMatchObject({ code: 503 });
    expect(await seen()).toBe(1);
  });
});

function transportOf({ endpoint }: WireLine): StdioClientTransport | StreamableHTTPClientTransport {
  if (endpoint.kind === 'stdio') {
    return new StdioClientTransport({ command: endpoint.command, args: [...endpoint.args] });
  }
  const once = { initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1, maxRetries: 0 };
  return new StreamableHTTPClientTransport(new URL(endpoint.url), { reconnectionOptions: once });
}
