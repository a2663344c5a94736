/**
 * A cancel in every state, asked for four times at once by two executors while the holder of the lease is frozen in it.
 * Then a third one takes over: one cancel was raised, or none, and the end agrees with what the server says of its task.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Executor, OperationLedger } from '../../../machines/index.ts';
import { ExecutorProcess } from '../../support/processes.ts';
import { type LedgerKind, NAMESPACE, type Rig, startRig } from '../../support/rig.ts';
import type { Stage } from '../../support/stage.ts';
import {
  approvalOf,
  comeToRest,
  disagreements,
  enter,
  restOf,
  ServerPool,
  STORIES,
  type Story,
} from '../../support/stories.ts';

const LEASE_MS = 1_000;
/** What four equal requests are answered with, whatever their order. */
const ANSWERS: Readonly<Record<Story['cancel']['answer'], readonly string[]>> = {
  taken: ['already', 'already', 'already', 'taken'],
  already: ['already', 'already', 'already', 'already'],
  refused: ['refused', 'refused', 'refused', 'refused'],
};

export const cancelEverywhere = (kind: LedgerKind) =>
  describe(`B9 F4: cancel in every state, on the ${kind} ledger`, () => {
    const servers = new ServerPool();
    let rig: Rig;
    let ledger: OperationLedger;
    let callers: readonly Executor[];
    beforeAll(async () => {
      rig = await startRig(kind);
      ledger = await rig.ledger();
      // They serve no server: what they do is to ask.
      callers = [await rig.executor(), await rig.executor()];
    });
    afterAll(async () => {
      await Promise.all(started.map((each) => each.kill()));
      await rig?.close();
      await servers.stop();
    });
    const started: ExecutorProcess[] = [];
    const process: Stage['process'] = (orders) => {
      const next = new ExecutorProcess({ leaseMs: LEASE_MS, ...orders, ledger: rig.address, namespace: NAMESPACE });
      started.push(next);
      return next;
    };

    it.concurrent.each(STORIES)(
      '$state: $cancel.answer, and one end on which record and server agree',
      (story) =>
        servers.lend(story, async (server, endpoint) => {
          const { call, first } = await enter(story, endpoint, process);
          const third = await rig.executor({ ledger, ...approvalOf(story) });
          const id = third.operationIdOf(call);
          const ask = () => callers.map((caller, n) => caller.cancel(id, `caller ${n}`, 'no longer needed'));
          const answers = await Promise.all([...ask(), ...ask()]);
          expect(answers.map((answer) => answer.kind).sort()).toEqual(ANSWERS[story.cancel.answer]);
          for (const answer of answers) {
            if (answer.kind !== 'taken')
              expect(answer).toMatchObject({ reason: expect.stringMatching(/too late|under way|disputed/) });
          }

          for (const control of story.heal) await server.control(control);
          third.serve(endpoint);
          if (restOf(story.cancel.ends) === story.state) await sleep(2 * LEASE_MS);
          const rest = await comeToRest(third, id, story.cancel.ends);
          // Only now is the holder ended: everything above happened beside it.
          await first.kill();
          await third.stop();
          expect(rest.ending).toEqual(story.cancel.ends);
          expect(rest.context.cancelGeneration).toBe(story.cancel.generation);
          expect(rest.receipt?.cancelGeneration ?? story.cancel.generation).toBe(story.cancel.generation);
          expect(await disagreements(server, rest)).toEqual([]);
          expect(await ledger.audit()).toEqual([]);
        }),
      120_000,
    );
  });
