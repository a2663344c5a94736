import type { SessionContext } from './context.ts';
import { field } from './fields.ts';
import { CAPABILITY_SUBMISSION_KEY } from './names.ts';

/** What a server says of submission keys (design section 6). */
export interface KeySupport {
  readonly lookup: boolean;
  readonly deduplicates: boolean;
  readonly retentionMs: number | null;
}

/** Reads the declaration of a server that remembers submission keys, wherever its revision keeps it. */
export function keySupportOf(declared: unknown): KeySupport {
  const retention = field(declared, 'retentionMs');
  return {
    lookup: field(declared, 'lookup') === true,
    deduplicates: field(declared, 'deduplicates') === true,
    retentionMs: typeof retention === 'number' && Number.isFinite(retention) && retention >= 0 ? retention : null,
  };
}

/** What this session declared; `null`: it was taken up again, and the caller knows from the record. */
export const declaredKeySupport = ({ initialized }: SessionContext): KeySupport | null =>
  initialized === null ? null : initializedKeySupport(initialized.capabilities);

/** The same, where it stands among the capabilities that `initialize` answered. */
export function initializedKeySupport(capabilities: Readonly<Record<string, unknown>>): KeySupport {
  return keySupportOf(field(field(capabilities, 'experimental'), CAPABILITY_SUBMISSION_KEY));
}
