/** The real SDK with its exporters in memory, registered as an application does it. */
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

export interface Telemetry {
  spans(): readonly ReadableSpan[];
  /** Spans of one operation and all that is below them. */
  traceOf(operationId: string): readonly ReadableSpan[];
  /** Collects now: the value of a counter or gauge (the count, of a histogram), summed over what matches; `null`: no such point. */
  value(name: string, attributes?: Readonly<Record<string, unknown>>): Promise<number | null>;
  collected(): Promise<ResourceMetrics | undefined>;
  forget(): void;
  stop(): Promise<void>;
}

export function startTelemetry(): Telemetry {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  metrics.setGlobalMeterProvider(meters);
  const collected = async () => {
    await meters.forceFlush();
    return metricExporter.getMetrics().at(-1);
  };
  return {
    spans: () => exporter.getFinishedSpans(),
    traceOf(operationId) {
      const all = exporter.getFinishedSpans();
      const steps = all.filter(({ attributes }) => attributes['toolop.operation.id'] === operationId);
      const ids = new Set(steps.map((span) => span.spanContext().spanId));
      return all.filter((span) => ids.has(span.spanContext().spanId) || ids.has(span.parentSpanContext?.spanId ?? ''));
    },
    collected,
    async value(name, attributes = {}) {
      const found = (await collected())?.scopeMetrics
        .flatMap((scope) => scope.metrics)
        .find(({ descriptor }) => descriptor.name === name);
      const points = (found?.dataPoints ?? []) as DataPoint<number | Histogram>[];
      const matching = points.filter((point) =>
        Object.entries(attributes).every(([key, wanted]) => point.attributes[key] === wanted),
      );
      if (matching.length === 0) return null;
      return matching.reduce((sum, { value }) => sum + (typeof value === 'number' ? value : value.count), 0);
    },
    forget: () => exporter.reset(),
    async stop() {
      trace.disable();
      metrics.disable();
      context.disable();
      await provider.shutdown();
      await meters.shutdown();
    },
  };
}
