/**
 * The instruments, made when somebody registered an SDK and something is first measured. `@opentelemetry/api` has no proxy for
 * meters, so what was made before that would measure nothing for ever; hence one look at the provider per measurement, and
 * without an SDK nothing else.
 */
import {
  type Attributes,
  type Counter,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type ObservableGauge,
} from '@opentelemetry/api';
import { METRICS, type MetricDescription, type MetricName } from './catalogue.ts';

export const SCOPE = 'toolop';

type OfKind<K extends string> = {
  [N in MetricName]: (typeof METRICS)[N]['kind'] extends K ? N : never;
}[MetricName];
export type CounterName = OfKind<'counter'>;
export type HistogramName = OfKind<'histogram'>;
export type GaugeName = OfKind<'gauge'>;

export class Instruments {
  readonly #counters = new Map<CounterName, Counter>();
  readonly #histograms = new Map<HistogramName, Histogram>();
  readonly #gauges = new Map<GaugeName, ObservableGauge>();

  constructor(readonly meter: Meter) {
    for (const [name, { kind, unit, description, buckets = [] }] of Object.entries<MetricDescription>(METRICS)) {
      const options = { unit, description };
      if (kind === 'counter') this.#counters.set(name as CounterName, meter.createCounter(name, options));
      else if (kind === 'gauge') this.#gauges.set(name as GaugeName, meter.createObservableGauge(name, options));
      else {
        const advice = { explicitBucketBoundaries: [...buckets] };
        this.#histograms.set(name as HistogramName, meter.createHistogram(name, { ...options, advice }));
      }
    }
  }

  count(name: CounterName, attributes: Attributes): void {
    this.#counters.get(name)?.add(1, attributes);
  }

  /** Seconds, from ms. */
  took(name: HistogramName, ms: number, attributes: Attributes): void {
    this.#histograms.get(name)?.record(Math.max(0, ms) / 1_000, attributes);
  }

  gauge(name: GaugeName): ObservableGauge {
    return this.#gauges.get(name) as ObservableGauge;
  }
}

let seen: MeterProvider | null = null;
let current: Instruments | null = null;

/** `null`: nobody measures. */
export function instruments(): Instruments | null {
  const provider = metrics.getMeterProvider();
  if (provider !== seen) {
    seen = provider;
    const meter = provider.getMeter(SCOPE);
    current = meter === createNoopMeter() ? null : new Instruments(meter);
  }
  return current;
}
