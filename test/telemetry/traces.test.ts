import { trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aip151 } from '../../adapters/aip-151/index.ts';
import { mcp20251125 } from '../../adapters/mcp-2025-11-25/index.ts';
import { mcp20260728 } from '../../adapters/mcp-2026-07-28/index.ts';
import { synchronous } from '../../adapters/sync/index.ts';
import { consumeReady, type Executor } from '../../machines/index.ts';
import { ATTRIBUTES, SPANS } from '../../machines/telemetry/catalogue.ts';
import { spanContextOf, traceContextOf } from '../../machines/telemetry/trace-context.ts';
import { freePort } from '../kit/free-port.ts';
import { startAipServer } from '../kit/servers/aip-151.ts';
import { controls, stdioCommand } from '../kit/servers/mcp-2025-11-25.ts';
import { startScriptedServer2026 } from '../kit/servers/mcp-2026-07-28.ts';
import { accepted, eventually, LEDGERS, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';
import { startTelemetry, type Telemetry } from './sdk.ts';

let telemetry: Telemetry;
beforeAll(() => {
  telemetry = startTelemetry();
});
afterEach(() => telemetry.forget());
afterAll(() => telemetry.stop());

const idsOf = (spans: readonly ReadableSpan[]) => new Set(spans.map((span) => span.spanContext().traceId));
const named = (spans: readonly ReadableSpan[], name: string) => spans.filter((span) => span.name === name);
const traceparents = (requests: readonly { method: string; meta: Record<string, unknown> }[], method: string) =>
  requests.filter((request) => request.method === method).map(({ meta }) => String(meta.traceparent));
const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId;
const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId;

async function deliver(ledger: Executor['env']['ledger'], operationId: string): Promise<void> {
  const stop = new AbortController();
  const done = consumeReady(
    {
      ledger,
      consumer: 'reader',
      idleMs: 20,
      handle: async ({ receipt }) => void (receipt.operationId === operationId && stop.abort()),
    },
    stop.signal,
  );
  await done;
}

describe.each(LEDGERS)('traces on the %s ledger', (kind) => {
  const stage = useStage(kind);

  it('one operation over stdio is one trace: its steps below the creation, its requests below their steps', async () => {
    const port = await freePort();
    const executor = await stage().rig.executor();
    const tracer = trace.getTracer('application');
    const [id, caller] = await tracer.startActiveSpan('agent', async (span) => {
      const operationId = await accepted(executor, workCall(stdioCommand({}, port), { ms: 150 }));
      span.end();
      return [operationId, span.spanContext()] as const;
    });
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    await deliver(stage().ledger, id);
    const spans = await eventually(async () => {
      const found = telemetry.traceOf(id);
      return named(found, 'toolop.accept').length > 0 && named(found, 'toolop.deliver').length > 0 && found;
    });

    expect(idsOf(spans)).toEqual(new Set([caller.traceId]));
    const [create] = named(spans, 'toolop.create');
    expect(parentOf(create)).toBe(caller.spanId);
    const steps = spans.filter((span) => span.attributes['toolop.operation.id'] === id && span !== create);
    for (const step of steps) expect([step.name, parentOf(step)]).toEqual([step.name, idOf(create)]);
    const names = new Set(steps.map(({ name }) => name));
    for (const { name, attributes } of [create, ...steps].filter((span) => span !== undefined)) {
      expect(Object.keys(SPANS)).toContain(name);
      for (const key of Object.keys(attributes).filter((each) => each.startsWith('toolop.')))
        expect(Object.keys(ATTRIBUTES)).toContain(key);
    }
    expect([...names]).toEqual(
      expect.arrayContaining(['begin', 'send', 'poll', 'fetch', 'accept', 'deliver'].map((name) => `toolop.${name}`)),
    );
    const call = named(spans, 'tools/call work');
    expect(call.map(parentOf)).toEqual([idOf(named(spans, 'toolop.send')[0])]);
    expect(call[0]?.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'work',
      'network.transport': 'pipe',
    });
    expect(named(spans, 'toolop.accept')[0]?.events.map(({ attributes }) => attributes?.['toolop.state'])).toEqual([
      'ACCEPTED',
    ]);

    const { requests } = await controls(port).log();
    for (const method of ['tools/call', 'tasks/get', 'tasks/result']) {
      const seen = traceparents(requests, method);
      expect(seen.length).toBeGreaterThan(0);
      const sent = spans.filter(({ attributes }) => attributes['mcp.method.name'] === method);
      const written = sent.map((span) => traceContextOf(span.spanContext())?.traceparent);
      expect(written).toEqual(expect.arrayContaining(seen));
    }
  });

  it('R3: an operation that another executor takes over stays in its trace, also by a command from outside', async () => {
    const server = await stage().server();
    const first = await stage().rig.executor();
    const id = await accepted(first, workCall(server.endpoint, { outcome: 'hold' }));
    await until(first, id, (state) => state === 'WORKING.polling');
    await first.stop();
    const begun = idsOf(telemetry.traceOf(id));
    expect(begun.size).toBe(1);
    telemetry.forget();

    const second = await stage().rig.executor({ endpoints: [server.endpoint] });
    await trace.getTracer('operator').startActiveSpan('by hand', async (span) => {
      await second.cancel(id, 'operator');
      span.end();
    });
    expect((await second.wait(id)).receipt.outcome).toBe('cancelled');
    const spans = await eventually(async () => {
      const found = telemetry.traceOf(id);
      return named(found, 'toolop.accept').length > 0 && found;
    });
    expect(idsOf(spans)).toEqual(begun);
    const executors = new Set(spans.map(({ attributes }) => attributes['toolop.executor']).filter(Boolean));
    expect(executors).toEqual(new Set([second.env.executorId]));
    const [command] = named(spans, 'toolop.command');
    expect(command?.attributes['toolop.event']).toBe('cancel.request');
    expect(command?.links.length).toBe(1);
    expect(named(spans, 'tasks/cancel').map(parentOf)).toEqual([idOf(named(spans, 'toolop.cancel')[0])]);
  });

  it('B3 B12: the trace is in no digest and no record, and the same call made in another trace is the same operation', async () => {
    const server = await stage().server();
    const executor = await stage().rig.executor();
    const call = workCall(server.endpoint, { ms: 10 });
    const tracer = trace.getTracer('application');
    const ids = [];
    for (const _ of [1, 2]) {
      ids.push(await tracer.startActiveSpan('agent', (span) => accepted(executor, call).finally(() => span.end())));
    }
    expect(ids[1]).toBe(ids[0]);
    const { receipt } = await executor.wait(ids[0] as string);
    const opened = await executor.load(ids[0] as string);
    const [traceId = ''] = [...idsOf(telemetry.traceOf(ids[0] as string))];
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.stringify([receipt, opened?.record])).not.toContain(traceId);
    expect((await server.log()).counts['tools/call']).toBe(1);
  });

  it('an operation whose creator did not trace has one trace all the same, which all who do agree on', async () => {
    const server = await stage().server();
    trace.disable();
    const first = await stage().rig.executor();
    const id = await accepted(first, workCall(server.endpoint, { outcome: 'hold' }));
    await until(first, id, (state) => state === 'WORKING.polling');
    await first.stop();
    expect(traceparents((await server.log()).requests, 'tools/call')).toEqual(['undefined']);
    await telemetry.stop();
    telemetry = startTelemetry();

    const traces = new Set<string>();
    for (const _ of [1, 2]) {
      const next = await stage().rig.executor({ endpoints: [server.endpoint] });
      await eventually(async () => named(telemetry.traceOf(id), 'toolop.poll').length > 0);
      await next.stop();
      for (const traceId of idsOf(telemetry.traceOf(id))) traces.add(traceId);
      telemetry.forget();
    }
    expect(traces.size).toBe(1);
  });
});

describe('passed on to servers', () => {
  const stage = useStage('embedded');
  const protocols = [mcp20251125(), mcp20260728(), synchronous()];

  it('MCP 2026-07-28: in `_meta`, beside what the revision says there; subscriptions belong to no operation', async () => {
    const server = await startScriptedServer2026();
    try {
      const executor = await stage().rig.executor({ protocols });
      const id = await accepted(executor, workCall(server.endpoint, { ms: 50 }, { protocol: 'mcp-2026-07-28' }));
      expect((await executor.wait(id)).receipt.outcome).toBe('completed');
      const { requests } = await server.log();
      const spans = telemetry.traceOf(id);
      const [call] = named(spans, 'tools/call work');
      expect(traceparents(requests, 'tools/call')).toEqual([traceContextOf(call?.spanContext() as never)?.traceparent]);
      expect(named(spans, 'subscriptions/listen')).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  it('synchronous calls: in `_meta`', async () => {
    const server = await stage().server({ limits: { sync: 5_000 } });
    const executor = await stage().rig.executor({ protocols });
    const id = await accepted(executor, workCall(server.endpoint, { ms: 5 }, { protocol: 'sync', tool: 'sync' }));
    expect((await executor.wait(id)).receipt.outcome).toBe('completed');
    const [call] = named(telemetry.traceOf(id), 'tools/call sync');
    const seen = traceparents((await server.log()).requests, 'tools/call');
    expect(seen).toEqual([traceContextOf(call?.spanContext() as never)?.traceparent]);
  });

  it('AIP-151: as a header of each request; the body is the same', async () => {
    const server = await startAipServer();
    try {
      const methods = { report: { path: '/v1/{parent=projects/*}/reports:generate' } };
      const executor = await stage().rig.executor({ protocols: [aip151({ methods })] });
      const answer = await executor.submit({
        callNodeId: 'traced',
        endpoint: server.address(),
        tool: 'report',
        arguments: { parent: 'projects/tides', depth: 3 },
      });
      if (answer.kind === 'refused') throw new Error(answer.reason);
      await until(executor, answer.operationId, (state) => state === 'WORKING.polling');
      server.complete();
      await executor.wait(answer.operationId);
      const spans = telemetry.traceOf(answer.operationId);
      const sent = server.requests.map(({ headers }) => String(headers.traceparent));
      const written = [...named(spans, 'POST'), ...named(spans, 'GET')].map(
        (span) => traceContextOf(span.spanContext())?.traceparent,
      );
      expect([...written].sort()).toEqual([...sent].sort());
      expect(idsOf(spans).size).toBe(1);
    } finally {
      await server.stop();
    }
  });
});

describe('W3C Trace Context', () => {
  it.each([
    '',
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
    '01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01',
  ])('"%s" is none', (traceparent) => {
    expect(spanContextOf({ traceparent })).toBeNull();
  });

  it('is read as it was written, with its state', () => {
    const text = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'vendor=value' };
    const span = spanContextOf(text);
    expect(span && traceContextOf(span)).toEqual(text);
  });
});
