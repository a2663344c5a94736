import { expect, it } from 'vitest';
import { scenarios } from './scenarios/table.ts';

it('every fault F1-F11 has a scenario, over HTTP and (where one process does not own it all) over stdio', () => {
  const rowsOn = (transport: 'http' | 'stdio') =>
    new Set(scenarios.filter(({ on }) => on?.includes(transport) ?? true).map(({ row }) => row));
  const all = Array.from({ length: 11 }, (_, index) => `F${index + 1}`);
  expect([...rowsOn('http')].sort()).toEqual([...all].sort());
  // F8: a stdio server lives and dies with the one process that knows it: no other epoch can take it over.
  expect([...rowsOn('stdio')].sort()).toEqual(all.filter((row) => row !== 'F8').sort());
  expect(new Set(scenarios.map(({ row, name }) => `${row}: ${name}`)).size).toBe(scenarios.length);
});
