/** The public ledger contract sees what is wrong with a ledger, and nothing wrong with one that is right, whoever runs it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OperationLedger } from '../../machines/operation-ledger.ts';
import { openLedger } from '../../persistence/index.ts';
import { ledgerContract } from '../kit/ledger-contract/index.ts';
import { FAULTS, type Fault, withVerbs } from './planted-faults.ts';
import { type Ran, runSuite } from './small-runner.ts';

/** The suite on a file, by the small runner. */
function onFile(plant?: Fault['plant'], parts?: readonly string[]): Promise<Ran> {
  const start = async () => {
    const dir = mkdtempSync(join(tmpdir(), 'toolop-contract-'));
    const address = join(dir, 'store', 'ledger.db');
    return {
      open: async (options: Parameters<typeof openLedger>[1]) => {
        const real = await openLedger(address, options);
        return plant === undefined ? real : withVerbs(real, plant(real));
      },
      clear: async () => rmSync(join(dir, 'store'), { recursive: true, force: true }),
      stop: async () => rmSync(dir, { recursive: true, force: true }),
    };
  };
  return runSuite((framework) => ledgerContract(framework, 'a file', start), expect, parts);
}

type Verb = {
  [K in keyof OperationLedger]: OperationLedger[K] extends (...ask: never[]) => unknown ? K : never;
}[keyof OperationLedger];

/** What a ledger can be asked: its functions, its own and those of its class. */
function verbsOf(ledger: OperationLedger): readonly Verb[] {
  const names = new Set([...Object.keys(ledger), ...Object.getOwnPropertyNames(Object.getPrototypeOf(ledger))]);
  return [...names].filter(
    (name): name is Verb => name !== 'constructor' && typeof Reflect.get(ledger, name) === 'function',
  );
}

it('a right ledger passes the whole suite, run by another runner; no verb of it is left out', {
  timeout: 300_000,
}, async () => {
  const verbs = new Set<string>();
  const asked = new Set<string>();
  const { passed, failed } = await onFile((real) => {
    for (const verb of verbsOf(real)) verbs.add(verb);
    return Object.fromEntries(
      verbsOf(real).map((verb) => [
        verb,
        (...ask: never[]) => {
          asked.add(verb);
          return (real[verb] as (...ask: never[]) => unknown)(...ask);
        },
      ]),
    );
  });
  expect(verbs.size).toBeGreaterThan(40);
  expect([...verbs].filter((verb) => !asked.has(verb))).toEqual([]);
  expect(failed).toEqual(new Map());
  expect(passed.length).toBeGreaterThan(100);
});

describe('the suite fails where', () => {
  it.each(FAULTS.map((fault) => [fault.name, fault] as const))(
    '%s',
    { timeout: 120_000 },
    async (_, { part, seenBy, plant }) => {
      const { passed, failed } = await onFile(plant, [part]);
      // Failed because something was expected otherwise, not because the ledger could not be used.
      for (const test of seenBy)
        expect(failed.get(`${part} > ${test}`), test).toMatchObject({ name: 'AssertionError' });
      expect(passed.length).toBeGreaterThan(0);
    },
  );
});
