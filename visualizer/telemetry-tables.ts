/** The tables of what is measured and traced, as they stand in the README. */
import { ATTRIBUTES, METRICS, type MetricDescription, SPANS } from '../machines/telemetry/catalogue.ts';

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const code = (text: string): string => `\`${text}\``;

export function telemetryTables(): string {
  const metrics = Object.entries<MetricDescription>(METRICS).map(([name, { kind, unit, attributes, description }]) =>
    row(code(name), kind, code(unit), attributes.map(code).join(', '), description),
  );
  const pairs = (entries: object) => Object.entries(entries).map(([name, meaning]) => row(code(name), String(meaning)));
  return [
    row('metric', 'kind', 'unit', 'attributes', 'what'),
    '|---|---|---|---|---|',
    ...metrics,
    '',
    row('span', 'step'),
    '|---|---|',
    ...pairs(SPANS),
    '',
    row('attribute of our own', 'meaning'),
    '|---|---|',
    ...pairs(ATTRIBUTES),
  ].join('\n');
}
