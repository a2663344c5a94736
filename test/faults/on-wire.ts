/** The scenarios of one transport as tests, on one ledger: a file each, so that they can run beside one another. */
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import type { OperationLedger } from '../../machines/index.ts';
import { type LedgerKind, type Rig, startRig } from '../support/rig.ts';
import { type HttpLine, openHttpLine, openStdioLine, type Transport, type WireLine } from './lines.ts';
import { play, type Stage } from './scenarios/play.ts';
import { IMPATIENT, type Scenario } from './scenarios/scenario.ts';
import { scenarios } from './scenarios/table.ts';

// Some start processes and wait for them, on machines that are busy with other tests.
vi.setConfig({ testTimeout: 90_000 });

export function playAll(transport: Transport, kind: LedgerKind): void {
  describe(`faults on ${transport} and the ${kind} ledger`, () => {
    let http: HttpLine | null = null;
    let rig: Rig;
    let ledger: OperationLedger;
    beforeAll(async () => {
      if (transport === 'http') http = await openHttpLine();
      rig = await startRig(kind);
      ledger = await rig.ledger();
    });
    afterAll(async () => {
      await rig.close();
      await http?.stop();
    });

    async function overHttp(scenario: Scenario, line: WireLine): Promise<void> {
      try {
        await play(scenario, { rig, ledger, line, executor: await rig.executor(scenario.executor) });
      } finally {
        await rig.retire();
        await line.close();
      }
    }

    const shared = new Map<string, Promise<Pick<Stage, 'line' | 'executor'>>>();
    /** Scenarios that ask for the same server and executor share them: their start costs more than most scenarios. */
    async function overStdio(scenario: Scenario): Promise<void> {
      const { server = {}, ends, name } = scenario;
      const dies = 'parked' in ends && ends.parked === 'server-gone';
      // The end of a process is waited for: on a busy machine it comes later than an impatient one gives up.
      const executor = { ...(dies ? {} : IMPATIENT), ...scenario.executor };
      const key = JSON.stringify([server, executor, dies ? name : null]);
      const open = async () => ({ line: await openStdioLine(server), executor: await rig.executor(executor) });
      if (!shared.has(key)) shared.set(key, open());
      const both = await (shared.get(key) as ReturnType<typeof open>);
      await play(scenario, { rig, ledger, ...both });
    }

    for (const scenario of scenarios) {
      if (scenario.on?.includes(transport) === false) continue;
      it(`${scenario.row}: ${scenario.name}`, async () => {
        if (http) await overHttp(scenario, await http.anew(scenario.server));
        else await overStdio(scenario);
      });
    }
  });
}
