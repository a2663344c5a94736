/** The question of a server, and its form. A server's words are shown, never obeyed. */
import { useState } from 'preact/hooks';
import { fieldsOf } from '../../view/fields.ts';
import type { ActionAnswer, OperationView, QuestionView } from '../../view/schema.ts';
import { act } from './act.ts';
import { type Entered, FormFields, replyOf } from './form.tsx';
import { setup } from './setup.ts';
import { moment, until } from './time.ts';
import { Verdict } from './verdict.tsx';

interface QuestionProps {
  readonly view: OperationView;
  readonly question: QuestionView;
  readonly now: number;
  readonly still: boolean;
}

export function Question({ view, question, now, still }: QuestionProps) {
  return (
    <section class="panel tone-ask" aria-labelledby="question">
      <h2 id="question">The server asks (round {question.round})</h2>
      <p class="message">
        <bdi>{question.message}</bdi>
      </p>
      <p class="deadline">
        Open until {moment(question.deadline)} ({until(question.deadline, now)}). One round is answered once.
      </p>
      {question.possiblyRepeat ? (
        <p class="notice">The connection broke: this may be a repeat of what was answered.</p>
      ) : null}
      {setup.actions && !still ? (
        <AnswerForm key={`${view.operationId} ${question.round}`} view={view} question={question} />
      ) : (
        <ByHand question={question} command={view.commands.answer} />
      )}
    </section>
  );
}

function ByHand({ question, command }: { readonly question: QuestionView; readonly command: string }) {
  return (
    <>
      <p>Answered on a command line, or on a page that was started with --allow-actions:</p>
      <pre class="command">{command}</pre>
      <details>
        <summary>What the answer has to look like</summary>
        <pre>{JSON.stringify(question.schema, null, 2)}</pre>
      </details>
    </>
  );
}

function AnswerForm({ view, question }: { readonly view: OperationView; readonly question: QuestionView }) {
  const fields = fieldsOf(question.schema);
  const [entered, setEntered] = useState<Entered>({});
  const [answer, setAnswer] = useState<ActionAnswer | null>(null);
  const [busy, setBusy] = useState(false);
  const { operationId } = view;
  const { round, schemaDigest } = question;
  const give = async (reply: unknown) => {
    setBusy(true);
    setAnswer(await act({ verb: 'answer', operationId, round, schemaDigest, reply }));
    setBusy(false);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const reply = replyOf(fields, entered);
    if ('problem' in reply) setAnswer({ kind: 'refused', words: reply.problem, guards: [] });
    else void give(reply);
  };
  return (
    <form class="answer" onSubmit={submit}>
      <FormFields fields={fields} entered={entered} change={setEntered} />
      <div class="buttons">
        <button type="submit" class="main" disabled={busy}>
          Answer
        </button>
        <button type="button" disabled={busy} onClick={() => void give({ action: 'decline' })}>
          Decline
        </button>
        <button type="button" disabled={busy} onClick={() => void give({ action: 'cancel' })}>
          Dismiss the question
        </button>
      </div>
      <Verdict answer={answer} />
    </form>
  );
}
