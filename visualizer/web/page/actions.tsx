/** What a human may do about an operation, each with what it does and does not guarantee. */
import { useRef, useState } from 'preact/hooks';
import type { ActionAnswer, OperationView } from '../../view/schema.ts';
import { act } from './act.ts';
import { setup } from './setup.ts';
import { VERBS, type VerbForm } from './verbs.ts';
import { Verdict } from './verdict.tsx';

export function Actions({ view, still }: { readonly view: OperationView; readonly still: boolean }) {
  const verbs = VERBS.filter(({ verb }) => view.verbs.includes(verb) && (verb !== 'cancel' || view.cancelSupported));
  if (verbs.length === 0) return null;
  if (still || !setup.actions) {
    return (
      <section class="panel" aria-labelledby="actions">
        <h2 id="actions">What can be done</h2>
        <p>On a command line, or on a page that was started with --allow-actions:</p>
        <pre class="command">
          {[
            ...(verbs.some(({ verb }) => verb === 'cancel') ? [view.commands.cancel] : []),
            ...(verbs.some(({ verb }) => verb !== 'cancel') ? [view.commands.reconcile] : []),
          ].join('\n')}
        </pre>
      </section>
    );
  }
  return (
    <section class="panel" aria-labelledby="actions">
      <h2 id="actions">What can be done</h2>
      <div class="buttons">
        {verbs.map((form) => (
          <ActionDialog key={form.verb} form={form} operationId={view.operationId} />
        ))}
      </div>
    </section>
  );
}

function ActionDialog({ form, operationId }: { readonly form: VerbForm; readonly operationId: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [answer, setAnswer] = useState<ActionAnswer | null>(null);
  const [busy, setBusy] = useState(false);
  const name = `dialog-${form.verb}`;
  const open = () => {
    setAnswer(null);
    dialog.current?.showModal();
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const entries = new FormData(event.currentTarget as HTMLFormElement);
    const given = Object.fromEntries(form.inputs.map((input) => [input.name, String(entries.get(input.name) ?? '')]));
    const command = form.commandOf(given);
    if ('problem' in command) return setAnswer({ kind: 'refused', words: String(command.problem), guards: [] });
    setBusy(true);
    setAnswer(await act({ verb: form.verb, operationId, ...command }));
    setBusy(false);
  };
  const done = answer !== null && answer.kind !== 'refused';
  return (
    <>
      <button type="button" onClick={open}>
        {form.title} …
      </button>
      <dialog ref={dialog} aria-labelledby={name}>
        <form onSubmit={(event) => void submit(event)}>
          <h2 id={name}>{form.title}</h2>
          {form.does.map((line) => (
            <p key={line}>{line}</p>
          ))}
          {form.inputs.map((input) => (
            <DialogInput key={input.name} verb={form.verb} input={input} />
          ))}
          <Verdict answer={answer} />
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              {done ? 'Close' : 'Leave it'}
            </button>
            {done ? null : (
              <button type="submit" class="main danger" disabled={busy}>
                {form.confirm}
              </button>
            )}
          </div>
        </form>
      </dialog>
    </>
  );
}

function DialogInput({ verb, input }: { readonly verb: string; readonly input: VerbForm['inputs'][number] }) {
  const id = `${verb}-${input.name}`;
  const common = { id, name: input.name, required: input.required };
  return (
    <div class="field">
      <label for={id}>{input.label}</label>
      {input.kind === 'long' ? (
        <textarea {...common} rows={4} />
      ) : input.kind === 'status' ? (
        <select {...common}>
          <option value="completed">completed</option>
          <option value="failed">failed</option>
          <option value="cancelled">cancelled</option>
        </select>
      ) : (
        <input {...common} maxLength={4_000} autocomplete="off" />
      )}
    </div>
  );
}
