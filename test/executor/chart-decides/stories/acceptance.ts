import type { AcceptFields } from '../../../../machines/operation-ledger.ts';
import type { GuardName } from '../../../../machines/tool-operation/guards.ts';
import { anAcceptanceOf, told } from '../events.ts';
import type { Story } from '../harness.ts';
import { beforeAcceptance } from '../situations.ts';

const fields = {
  acceptsCallNode: 'callNode',
  acceptsRequestDigest: 'requestDigest',
  acceptsTaskId: 'taskId',
  acceptsToolVersion: 'toolVersion',
  acceptsExecutionEpoch: 'executionEpoch',
  acceptsCancelGeneration: 'cancelGeneration',
  acceptsTerminalState: 'terminalState',
  acceptsResultDigest: 'resultDigest',
} as const satisfies Partial<Record<GuardName, keyof AcceptFields>>;

/**
 * B12: an acceptor that verified something else in one field. The ledger compares the same fields once more: without
 * the guard nothing worse happens than that its transaction has to say no.
 */
export const acceptance: readonly Story[] = (Object.keys(fields) as (keyof typeof fields)[]).map((guard) => ({
  guard,
  replacedBy: true,
  about: `an acceptance with another ${fields[guard]}`,
  tell: (scene) =>
    beforeAcceptance(scene, async ({ executor, id }) => {
      const acceptance = await anAcceptanceOf(executor, id, { [fields[guard]]: 'another' });
      return told(executor, id, acceptance).catch((error: Error) => error.message.replace(id, 'it'));
    }),
  asIs: 'refused in FETCHING_RESULT.verified',
  replaced: `the ledger refused the acceptance of it: field ${fields[guard]} does not match`,
}));
