import type { ComponentChildren } from 'preact';
import type { OperationView } from '../../view/schema.ts';
import { duration, moment, until } from './time.ts';

/** What an operation is, in two short columns. */
export function Facts({ view, now }: { readonly view: OperationView; readonly now: number }) {
  const ended = view.over ? view.updatedAt : now;
  const facts: readonly (readonly [name: string, value: ComponentChildren])[] = [
    ['Tool', <bdi key="tool">{view.tool.name}</bdi>],
    ['Server', <bdi key="server">{view.server}</bdi>],
    ['Protocol', view.protocol],
    ['Server says', view.serverStatus ?? 'nothing yet'],
    ['Task', view.taskId === null ? 'none yet' : <code key="task">{view.taskId}</code>],
    ['Principal', <bdi key="principal">{view.principal}</bdi>],
    [
      'Began',
      <span key="began">
        {moment(view.createdAt)} ({duration(ended - view.createdAt)} {view.over ? 'to its end' : 'ago'})
      </span>,
    ],
    ['Next', view.over ? 'nothing is owed' : `${view.owes ?? 'nothing'}, ${until(view.dueAt, now)}`],
    ['Waits at most until', view.over ? null : moment(view.waitDeadline)],
    ['Server keeps it until', view.expiry && moment(view.expiry.earliest)],
    ['Failures in a row', view.failures > 0 ? String(view.failures) : null],
    [
      'Cancel',
      view.cancel && (
        <span key="cancel">
          asked by <bdi>{view.cancel.requestedBy}</bdi> at {moment(view.cancel.requestedAt)}
          {view.cancel.reason === null ? '' : ': '}
          <bdi>{view.cancel.reason}</bdi>
        </span>
      ),
    ],
    ['Attempt, epoch', `${view.attempt}, ${view.executionEpoch}`],
    ['Revision', view.revision],
    ['Operation', <code key="id">{view.operationId}</code>],
    ['Submission key', <code key="key">{view.submissionKey}</code>],
    ['Request digest', <code key="digest">{view.requestDigest}</code>],
  ];
  return (
    <section class="panel" aria-labelledby="facts">
      <h2 id="facts">The record</h2>
      <dl class="facts">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}
