import type { ActionAnswer } from '../../view/schema.ts';

/** What the chart said to a command. */
export function Verdict({ answer }: { readonly answer: ActionAnswer | null }) {
  return (
    <p class={`verdict ${answer?.kind ?? 'none'}`} role="status">
      {answer === null ? '' : `${answer.kind === 'refused' ? 'Refused: ' : ''}${answer.words}`}
    </p>
  );
}
