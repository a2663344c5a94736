import type { ComponentChildren } from 'preact';
import type { OutputView, ReceiptView } from '../../view/schema.ts';
import { EvidenceLine } from './evidence.tsx';
import { duration } from './time.ts';

const OUTCOMES: Readonly<Record<ReceiptView['outcome'], readonly [title: string, tone: string]>> = {
  completed: ['Completed', 'good'],
  failed: ['Failed', 'bad'],
  cancelled: ['Cancelled', 'quiet'],
  not_submitted: ['Not submitted: nothing was created', 'quiet'],
  given_up: ['Given up: what became of it is unknown', 'bad'],
};

interface ReceiptProps {
  readonly receipt: ReceiptView;
  readonly output: OutputView | null;
  readonly shadow: boolean;
}

/** The one terminal receipt, and what it rests on. */
export function Receipt({ receipt, output, shadow }: ReceiptProps) {
  const [title, tone] = OUTCOMES[receipt.outcome];
  const took = receipt.observedAt === null ? '' : ` after ${duration(receipt.observedAt - receipt.createdAt)}`;
  return (
    <section class={`panel receipt tone-${tone}`} aria-labelledby="receipt">
      <h2 id="receipt">
        {title}
        {took}
      </h2>
      {receipt.effectReconciliationRequired ? (
        <p class="effect">
          <strong>Effect to be reconciled.</strong> The tool may have changed something outside: somebody has to look.
        </p>
      ) : null}
      {receipt.reason === null ? null : (
        <p class="quoted">
          <bdi>{receipt.reason}</bdi>
        </p>
      )}
      <dl class="facts">
        <Rests name="Rests on">
          {receipt.evidence ? <EvidenceLine evidence={receipt.evidence} /> : 'no evidence of a server'}
        </Rests>
        <Rests name="Receipt">
          <code>{receipt.receiptId}</code>
        </Rests>
        <Rests name="Request digest">
          <code>{receipt.requestDigest}</code>
        </Rests>
        <Rests name="Tool version">
          <code>{receipt.toolVersion}</code>
        </Rests>
        {receipt.resultDigest === null ? null : (
          <Rests name="Result digest">
            <code>{receipt.resultDigest}</code> {receipt.released ? '(released)' : '(withheld by an output guard)'}
          </Rests>
        )}
        {receipt.auditResultDigest === null ? null : (
          <Rests name="Kept for the audit">
            <code>{receipt.auditResultDigest}</code> (never a success)
          </Rests>
        )}
        <Rests name="Epoch, attempt, cancel">
          {receipt.executionEpoch}, {receipt.attempt}, {receipt.cancelGeneration}
        </Rests>
        {receipt.marks.length === 0 ? null : (
          <Rests name="Marks">
            <bdi>{receipt.marks.join(', ')}</bdi>
          </Rests>
        )}
      </dl>
      {output === null ? null : <Output output={output} isError={receipt.isError} />}
      {shadow ? <p>What a shadow returned is compared, and shown to nobody.</p> : null}
    </section>
  );
}

function Rests({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Output({ output, isError }: { readonly output: OutputView; readonly isError: boolean }) {
  const title = output.kind === 'error' ? 'The error that it ended with' : isError ? 'The error of the tool' : 'Output';
  return (
    <details class="output" open={output.text.length < 4_000}>
      <summary>{title}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys */}
      <section class="text" tabIndex={0} aria-label={title}>
        <pre dir="auto">{output.text}</pre>
      </section>
      {output.cut ? <p>Cut here: `toolop show --output` tells all of it.</p> : null}
    </details>
  );
}
