/** Who may know whom (design, "In one picture"): arrows point one way, and production code has no circles. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const TOP = ['machines', 'adapters', 'persistence', 'visualizer', 'test'] as const;

interface Import {
  readonly from: string;
  /** A path from the root for what is ours, a package's name for what is not. */
  readonly to: string;
  readonly typeOnly: boolean;
}

const files = TOP.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.d)\.m?tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
);

const FROM = /^\s*(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
const CALL = /\bimport\(\s*'([^']+)'\s*\)/g;

function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const found = [
    ...[...text.matchAll(FROM)].map((match) => ({ name: match[2] as string, typeOnly: match[1] !== undefined })),
    ...[...text.matchAll(CALL)].map((match) => ({ name: match[1] as string, typeOnly: false })),
  ];
  return found.map(({ name, typeOnly }) => ({
    from: file,
    to: name.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), name)) : name,
    typeOnly,
  }));
}

const imports = files.flatMap(importsOf);
const topOf = (path: string) => path.split('/')[0] as string;
const isOurs = (path: string) => (TOP as readonly string[]).includes(topOf(path)) && /\.m?tsx?$/.test(path);
const show = (list: readonly Import[]) => list.map(({ from, to }) => `${from} -> ${to}`);
const within = (folder: string) => imports.filter(({ from }) => topOf(from) === folder);

it('the reader of imports sees them', () => {
  expect(files.length).toBeGreaterThan(30);
  expect(show(imports)).toContain('machines/tool-operation/machine.ts -> machines/tool-operation/guards.ts');
  expect(imports.filter(({ to }) => to === 'xstate').length).toBeGreaterThan(0);
});

describe('machines', () => {
  it('knows nobody else', () => {
    expect(show(within('machines').filter(({ to }) => isOurs(to) && topOf(to) !== 'machines'))).toEqual([]);
  });
  it('knows nothing of MCP, Redis or SQLite', () => {
    const foreign = /^(@modelcontextprotocol\/|ioredis|libsql|fengari|node:(http|https|net|sqlite)$)/;
    expect(show(within('machines').filter(({ to }) => foreign.test(to)))).toEqual([]);
  });
  it('its charts know no executor', () => {
    const charts = imports.filter(({ from }) => /^machines\/(tool-operation|approval-gate)\//.test(from));
    expect(show(charts.filter(({ to }) => to.startsWith('machines/actor/')))).toEqual([]);
    expect(show(charts.filter(({ to }) => to.startsWith('node:')))).toEqual([]);
  });
});

describe.each(['adapters', 'persistence'])('%s', (folder) => {
  const INTERFACES = [
    'machines/operation-protocol.ts',
    'machines/operation-ledger.ts',
    'machines/digest.ts',
    'machines/json-schema/ajv.ts',
    'machines/tool-operation/context.ts',
    'machines/tool-operation/uncertainty.ts',
    'machines/telemetry/request.ts',
    'machines/telemetry/trace-context.ts',
  ];
  it('knows the interfaces of machines, and nobody else', () => {
    const others = within(folder).filter(({ to }) => isOurs(to) && topOf(to) !== folder && !INTERFACES.includes(to));
    expect(show(others)).toEqual([]);
  });
});

it('each protocol revision is an adapter of its own (B2)', () => {
  const adapterOf = (path: string) => path.split('/').slice(0, 2).join('/');
  // What the revisions of MCP have in common is the wire, and knows none of them.
  const across = within('adapters').filter(
    ({ from, to }) =>
      topOf(to) === 'adapters' &&
      adapterOf(from) !== adapterOf(to) &&
      adapterOf(from) !== from &&
      adapterOf(to) !== 'adapters/mcp',
  );
  expect(show(across)).toEqual([]);
});

it('nobody knows the visualizer, or the tests', () => {
  const known = imports.filter(({ from, to }) => {
    const [who, whom] = [topOf(from), isOurs(to) ? topOf(to) : ''];
    return (whom === 'visualizer' && who !== 'visualizer' && who !== 'test') || (whom === 'test' && who !== 'test');
  });
  expect(show(known)).toEqual([]);
});

it('what the package ships of the tests knows no other test, no test runner, and only forms of the visualizer', () => {
  const shipped = imports.filter(({ from }) => from.startsWith('test/kit/') && !from.endsWith('.test.ts'));
  expect(shipped.length).toBeGreaterThan(50);
  const forms = ['visualizer/chart/graph.ts', 'visualizer/export/schema.ts'];
  const foreign = shipped.filter(
    ({ to }) =>
      (topOf(to) === 'test' && !to.startsWith('test/kit/')) ||
      (topOf(to) === 'visualizer' && !forms.includes(to)) ||
      /^(vitest|@playwright|fast-check)/.test(to),
  );
  expect(show(foreign)).toEqual([]);
});

it('the ledger contract knows the interface of a ledger, and no ledger', () => {
  const contract = imports.filter(({ from }) => from.startsWith('test/kit/ledger-contract/'));
  const foreign = contract.filter(
    ({ to }) => isOurs(to) && !to.startsWith('test/kit/ledger-contract/') && to !== 'machines/operation-ledger.ts',
  );
  expect(contract.length).toBeGreaterThan(30);
  expect(show(foreign)).toEqual([]);
  expect(new Set(contract.filter(({ to }) => !isOurs(to)).map(({ to }) => to))).toEqual(new Set(['node:crypto']));
});

it('every import of ours leads to a file', () => {
  expect(show(imports.filter(({ to }) => isOurs(to) && !files.includes(to)))).toEqual([]);
});

it('production code has no circles (imports of types apart)', () => {
  const next = new Map<string, string[]>();
  for (const { from, to, typeOnly } of imports) {
    if (!typeOnly && topOf(from) !== 'test' && isOurs(to)) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (path.includes(file) || done.has(file)) return;
    for (const other of next.get(file) ?? []) visit(other, [...path, file]);
    done.add(file);
  };
  for (const file of next.keys()) visit(file, []);
  expect(circles).toEqual([]);
});
