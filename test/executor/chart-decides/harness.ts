/**
 * The same story, told twice to the real executor and the same real server: once with the chart as it is, once with one
 * guard replaced. If it ends differently, the chart decides, and not some code beside it.
 */
import { describe, expect, it } from 'vitest';
import { type Executor, type ExecutorOptions, toolOperation } from '../../../machines/index.ts';
import type { GuardName } from '../../../machines/tool-operation/guards.ts';
import type { ScriptedOptions } from '../../kit/servers/mcp-2025-11-25.ts';
import { type Bench, useBench } from '../../support/bench.ts';

const SERVERS = {
  plain: {},
  lookup: { lookup: true },
  deduplicating: { lookup: true, dedup: true },
  /** Its submission keys are good for a moment only. */
  forgetful: { lookup: true, retentionMs: 300 },
  noCancel: { cancel: false },
} as const satisfies Record<string, Partial<ScriptedOptions>>;
type ServerName = keyof typeof SERVERS;

export interface Scene {
  readonly bench: Bench;
  /** A running executor on the chart of this telling. */
  executor(options?: Partial<ExecutorOptions>): Promise<Executor>;
}

export interface Story {
  readonly guard: GuardName;
  readonly replacedBy: boolean;
  readonly about: string;
  /** Which server: default the plain one. */
  readonly on?: ServerName;
  /** How it ended, in a word or two. */
  readonly tell: (scene: Scene) => Promise<string>;
  readonly asIs: string;
  readonly replaced: string;
}

export function tellStories(topic: string, stories: readonly Story[]): void {
  describe(`the chart decides: ${topic}`, () => {
    const benches = new Map<ServerName, () => Bench>();
    for (const { on = 'plain' } of stories) {
      if (!benches.has(on)) benches.set(on, useBench('embedded', SERVERS[on]));
    }

    it.each(stories)('$guard: $about', async ({ guard, replacedBy, on = 'plain', tell, asIs, replaced }) => {
      const bench = benches.get(on)?.();
      if (!bench) throw new Error(`no server ${on}`);
      expect(await toldOn(bench, tell, {})).toBe(asIs);
      const machine = toolOperation.provide({ guards: { [guard]: () => replacedBy } });
      expect(await toldOn(bench, tell, { machine })).toBe(replaced);
    });
  });
}

/** One telling; nothing of it (an executor that still asks, a fault that nobody met) reaches into the next one. */
async function toldOn(bench: Bench, tell: Story['tell'], chart: Pick<ExecutorOptions, 'machine'>): Promise<string> {
  try {
    return await tell({ bench, executor: (options) => bench.executor({ ...options, ...chart }) });
  } finally {
    await bench.stage.rig.retire();
    await bench.server.control({ op: 'clearFaults' });
  }
}
