import type { Opened } from '../../../../machines/actor/store.ts';
import { started } from '../../../support/bench.ts';
import { aStatus, type Bent, told } from '../events.ts';
import type { Scene, Story } from '../harness.ts';
import { abandonedQuestion } from '../situations.ts';

const channelClosed = { type: 'input.channelClosed', reason: 'closed', result: null } as const;

const afterDeadline = ({ snapshot }: Opened): Bent => ({ at: (snapshot.context.input?.deadline ?? 0) + 1 });

/** An answer that reaches the record though the desk that judged it saw another question, or another time. */
async function answered(scene: Scene, wrong: { readonly schemaDigest?: string; readonly late?: boolean }) {
  const { executor, id, opened } = await abandonedQuestion(scene);
  const { input, inputRound: round } = opened.snapshot.context;
  const schemaDigest = wrong.schemaDigest ?? input?.schemaDigest ?? '';
  const bent = wrong.late ? afterDeadline(opened) : {};
  return told(executor, id, { type: 'input.reply', round, schemaDigest, replyDigest: 'b'.repeat(64) }, bent);
}
const taken = {
  replacedBy: true,
  asIs: 'refused in INPUT_REQUIRED.awaiting',
  replaced: 'taken in INPUT_REQUIRED.replied',
} as const;

/** B7: a reply is bound to the question it answers. */
export const input: readonly Story[] = [
  {
    guard: 'matchesSchemaDigest',
    about: 'an answer to a question of another form',
    tell: (scene) => answered(scene, { schemaDigest: 'f'.repeat(64) }),
    ...taken,
  },
  {
    guard: 'beforeInputDeadline',
    about: 'an answer after the deadline',
    tell: (scene) => answered(scene, { late: true }),
    ...taken,
  },
  {
    guard: 'matchesInputRound',
    about: 'the end of the channel of an earlier round (F3)',
    tell: async ({ bench, executor: start }) => {
      const executor = await start();
      const { id } = await started(executor, bench.call({ ask: 1 }), 'INPUT_REQUIRED.awaiting');
      return told(executor, id, channelClosed, { claims: { inputRound: 0 } });
    },
    ...taken,
    replaced: 'taken in WORKING.listening',
  },
  {
    guard: 'withinPromptDeadline',
    replacedBy: true,
    about: 'a question that was lost with its channel, past its deadline',
    tell: async (scene) => {
      const { executor, id, taskId, opened } = await abandonedQuestion(scene);
      await told(executor, id, channelClosed);
      return told(executor, id, aStatus(taskId, 'input_required'), afterDeadline(opened));
    },
    asIs: 'taken in PARKED.watching',
    replaced: 'taken in WORKING.listening',
  },
  {
    guard: 'answerIsRecorded',
    replacedBy: false,
    about: 'the same question on a new channel, after its answer was recorded',
    tell: async (scene) => {
      const { executor, id, opened } = await abandonedQuestion(scene);
      const { input: question, inputRound: round } = opened.snapshot.context;
      const { schemaDigest = '', requestDigest = '' } = question ?? {};
      const reply = { action: 'accept', content: { word: 'yes' } } as const;
      await executor.answer({ operationId: id, round, schemaDigest, reply });
      await told(executor, id, channelClosed);
      return told(executor, id, { type: 'input.requested', schemaDigest, questionDigest: requestDigest, keys: [] });
    },
    asIs: 'taken in INPUT_REQUIRED.replied',
    replaced: 'taken in INPUT_REQUIRED.awaiting',
  },
  {
    guard: 'asksOnlyNew',
    replacedBy: true,
    about: 'a question by key that was answered, listed again (F3)',
    tell: async (scene) => {
      const { executor, id } = await abandonedQuestion(scene);
      const keyed = (digest: string) =>
        told(executor, id, {
          type: 'input.requested',
          schemaDigest: digest.repeat(64),
          questionDigest: digest.repeat(64),
          keys: ['c'.repeat(16)],
        });
      await told(executor, id, channelClosed);
      await keyed('d');
      await told(executor, id, {
        type: 'input.reply',
        round: 2,
        schemaDigest: 'd'.repeat(64),
        replyDigest: 'b'.repeat(64),
      });
      await told(executor, id, channelClosed);
      return keyed('e');
    },
    asIs: 'refused in WORKING.listening',
    replaced: 'taken in INPUT_REQUIRED.awaiting',
  },
];
