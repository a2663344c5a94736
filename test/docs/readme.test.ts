import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { statechartMermaid } from '../../visualizer/statechart.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<string, string>;
};

describe('README', () => {
  it('shows the statechart as the machine is', () => {
    const [, picture] = /```mermaid\n([\s\S]*?)\n```/.exec(readme) ?? [];
    expect(picture).toBe(statechartMermaid());
  });

  it('names only commands that exist', () => {
    const named = [...readme.matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(Object.keys(manifest.scripts)).toContain(name);
  });
});
