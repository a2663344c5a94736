/** The steps of the ledger contract, and what is written behind a ledger's back. */
export {
  acceptStep,
  fields,
  NAMESPACE,
  newOperation,
  recordOf,
  step,
  unique,
} from '../kit/ledger-contract/steps.ts';

const LINES = { revision: 0, scope: 5, epoch: 6, receipt: 7 } as const;
/** A record with another line (prelude.lua). */
export const withLine =
  (name: keyof typeof LINES, value: string) =>
  (text: Buffer): Buffer => {
    const lines = text.toString('latin1').split('\n');
    lines[LINES[name]] = value;
    return Buffer.from(lines.join('\n'), 'latin1');
  };
