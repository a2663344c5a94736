import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { guards } from '../../../machines/index.ts';
import { stories } from './stories/index.ts';

const all = Object.values(stories).flat();

describe('the chart decides: every guard', () => {
  it('has a story', () => {
    expect(new Set(all.map(({ guard }) => guard))).toEqual(new Set(Object.keys(guards)));
  });

  it('makes a difference in its story', () => {
    expect(all.filter(({ asIs, replaced }) => asIs === replaced)).toEqual([]);
  });

  it('has its story told by a test file', () => {
    const tests = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
    const texts = tests.map((name) => readFileSync(`${import.meta.dirname}/${name}`, 'utf8'));
    const told = Object.keys(stories).filter((topic) => texts.some((text) => text.includes(`tellStories('${topic}',`)));
    expect(told).toEqual(Object.keys(stories));
  });
});
