import { describe, expect, it } from 'vitest';
import { sha256 } from '../../machines/digest.ts';
import { LedgerIncompatible } from '../../machines/operation-ledger.ts';
import {
  NO_RULES,
  RolloutRule,
  type RolloutRules,
  RolloutRules as Rules,
  readRules,
  ruleOf,
  sideUnder,
} from '../../machines/rollout/rules.ts';
import { ordinarySide } from '../../machines/shadow/comparison.ts';
import { differences, fieldsOf } from '../../machines/shadow/fields.ts';

const rules = (...list: RolloutRules['rules']): RolloutRules => ({ ...NO_RULES, rules: list });

describe('rollout rules', () => {
  const ids = Array.from({ length: 2_000 }, (_, i) => `p${String(i % 16).padStart(2, '0')}.${sha256(`node ${i}`)}`);
  const operationsAt = (percent: number) => ids.filter((id) => sideUnder({ mode: { percent } }, id) === 'operation');

  it('R2: a percentage is that share of the call nodes, and raising it takes none away', () => {
    const [five, twenty] = [operationsAt(5), operationsAt(20)];
    // Four standard deviations of so many draws, either way.
    expect(Math.abs(five.length - 100)).toBeLessThan(4 * Math.sqrt(2_000 * 0.05 * 0.95));
    expect(Math.abs(twenty.length - 400)).toBeLessThan(4 * Math.sqrt(2_000 * 0.2 * 0.8));
    expect(five.every((id) => twenty.includes(id))).toBe(true);
    expect([operationsAt(0).length, operationsAt(100).length]).toEqual([0, 2_000]);
    // Of each partition alike: the share does not hang on the partition.
    const inFirst = twenty.filter((id) => id.startsWith('p00')).length;
    expect(Math.abs(inFirst - 25)).toBeLessThan(4 * Math.sqrt(125 * 0.2 * 0.8));
  });

  it('R2: the most specific rule wins: tool, adapter, default', () => {
    const all = rules(
      { of: 'default', mode: 'off' },
      { of: 'adapter', name: 'a', mode: 'on' },
      { of: 'tool', name: 't', mode: { percent: 5 } },
    );
    expect(ruleOf(all, { tool: 't', adapter: 'a' })).toMatchObject({ of: 'tool' });
    expect(ruleOf(all, { tool: 'other', adapter: 'a' })).toMatchObject({ of: 'adapter' });
    expect(ruleOf(all, { tool: 'a', adapter: 't' })).toMatchObject({ of: 'default' });
    expect(ruleOf(NO_RULES, { tool: 't', adapter: 'a' })).toBeNull();
  });

  it('R1: a shadow is a rule of one tool that is declared free of effects in it, and of nothing else', () => {
    const shadow = (more: object) => RolloutRule.safeParse({ mode: 'shadow', ...more });
    expect(shadow({ of: 'tool', name: 't', effectFree: true }).success).toBe(true);
    const undeclared = shadow({ of: 'tool', name: 't' });
    expect(undeclared.error?.issues[0]?.message).toMatch(/declared free of effects.*R1/);
    expect(shadow({ of: 'tool', name: 't', effectFree: false }).success).toBe(false);
    expect(shadow({ of: 'default' }).success).toBe(false);
    expect(shadow({ of: 'adapter', name: 'a', effectFree: true }).success).toBe(false);
  });

  it.each([
    ['no JSON', '{', /no JSON/],
    ['an undeclared shadow', '{"schema":"rollout.v1","rules":[{"of":"tool","name":"t","mode":"shadow"}]}', /R1/],
    ['of a later version', '{"schema":"rollout.v2","rules":[]}', /cannot be read/],
    ['a percentage that is none', '{"schema":"rollout.v1","rules":[{"of":"default","mode":{"percent":101}}]}', /read/],
  ])('R1 R2: stored rules that are %s decide nothing', (_, text, why) => {
    expect(() => readRules(text)).toThrow(LedgerIncompatible);
    expect(() => readRules(text)).toThrow(why);
  });

  it('one target has one rule, and there is an end to their number', () => {
    const twice = rules({ of: 'default', mode: 'on' }, { of: 'default', mode: 'off' });
    expect(Rules.safeParse(twice).success).toBe(false);
    const many = (n: number) =>
      rules(...Array.from({ length: n }, (_, i) => ({ of: 'tool' as const, name: `t${i}`, mode: 'on' as const })));
    expect([Rules.safeParse(many(500)).success, Rules.safeParse(many(501)).success]).toEqual([true, false]);
  });
});

describe('the fields of an outcome', () => {
  const LIMIT = 10_000;
  const result = (value: object, isError = false) =>
    fieldsOf({ kind: 'result', value: value as never, isError }, LIMIT);

  it('R1: isError, content by item, structuredContent by key, whatever the order of keys; _meta is left out', () => {
    const one = result({ content: [{ type: 'text', text: 'a' }, { n: 1 }], structuredContent: { x: 1, y: { z: [] } } });
    const alike = result({
      structuredContent: { y: { z: [] }, x: 1 },
      content: [{ text: 'a', type: 'text' }, { n: 1 }],
      _meta: { at: 1 },
      resultType: 'complete',
    });
    expect(Object.keys(one).sort()).toEqual(
      ['content[0]', 'content[1]', 'isError', 'kind', 'structuredContent.x', 'structuredContent.y'].sort(),
    );
    expect(differences(one, alike)).toEqual([]);
    const other = result({ content: [{ type: 'text', text: 'a' }], structuredContent: { x: 2, y: { z: [] } } }, true);
    expect([...differences(one, other)].sort()).toEqual(['content[1]', 'isError', 'structuredContent.x'].sort());
  });

  it('R1: other shapes: the response of AIP-151 by key, an error, and one against the other', () => {
    expect(Object.keys(result({ pages: 3, isbn: 'x' }))).toEqual(['kind', 'isError', 'value.isbn', 'value.pages']);
    const error = fieldsOf({ kind: 'error', value: { code: 1, message: 'no' } }, LIMIT);
    expect(Object.keys(error)).toEqual(['kind', 'error.code', 'error.message']);
    expect(differences(error, result({ pages: 3 }))).toContain('kind');
  });

  it('keeps digests, of a bounded number of fields with bounded names, and of nothing too large', () => {
    const names = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`.padEnd(200, '\u0001'), i]));
    const many = fieldsOf({ kind: 'result', value: { structuredContent: names }, isError: false }, 1_000_000);
    expect(Object.keys(many).length).toBe(201);
    expect(JSON.stringify(many).length).toBeLessThan(64 * 1024);
    // What is counted together is still compared.
    const changed = { ...names, [`k${999}`.padEnd(200, '\u0001')]: 'other' };
    const other = fieldsOf({ kind: 'result', value: { structuredContent: changed }, isError: false }, 1_000_000);
    expect(differences(many, other).length).toBe(1);
    expect(JSON.stringify(result({ content: ['secret'] }))).not.toContain('secret');
    expect(() => result({ content: ['x'.repeat(LIMIT)] })).toThrow(/larger than 10000 bytes/);
  });

  it('what a caller hands over is never a reason to throw', () => {
    const circle: { self?: unknown; again?: unknown } = {};
    circle.self = circle;
    circle.again = circle;
    for (const value of [
      circle,
      1n,
      undefined,
      () => 1,
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
    ]) {
      const entry = ordinarySide({ kind: 'result', value: value as never, isError: false }, LIMIT);
      expect(entry).toMatchObject({ kind: 'incomparable', why: expect.stringMatching(/^the ordinary outcome: ./) });
    }
  });
});
