import type { EvidenceView, OperationView } from '../../view/schema.ts';
import { moment } from './time.ts';

const WEIGHTS = {
  terminal: 'what the end rests on',
  inbox: 'brought by an older epoch: to be verified',
  audit: 'seen, and not acted on',
} as const;

/** What was seen of the end, and what it counts for. */
export function Evidence({ view }: { readonly view: OperationView }) {
  if (view.evidence.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="evidence">
      <h2 id="evidence">Evidence</h2>
      <ul class="evidence">
        {view.evidence.map((each) => (
          <li key={`${each.at} ${each.kind} ${each.weight}`}>
            <p>
              <EvidenceLine evidence={each} /> <span class="weight">{WEIGHTS[each.weight]}</span>
            </p>
            {each.note === undefined ? null : (
              <p class="quoted">
                <bdi>{each.note}</bdi>
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function EvidenceLine({ evidence }: { readonly evidence: EvidenceView }) {
  const { kind, at, status, taskId, executionEpoch } = evidence;
  return (
    <>
      <code>{kind}</code>
      {status === undefined ? '' : ` says ${status}`}
      {taskId === undefined ? '' : ` of ${taskId}`} at <time>{moment(at)}</time>, in epoch {executionEpoch}
    </>
  );
}
