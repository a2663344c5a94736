/** One deliberate fault in the protocol, and what notices it. */
export const KINDS = ['guards', 'parts', 'transitions', 'scripts', 'orders'] as const;
export type Kind = (typeof KINDS)[number];

/** What each kind changes, for people. */
export const MEANINGS: Readonly<Record<Kind, string>> = {
  guards: 'a guard of the chart always says yes, or always no',
  parts: 'a composite guard of the chart without one of its parts',
  transitions: 'one transition of the chart is gone',
  scripts: 'one check in a script of the ledger always or never holds, or lacks one operand',
  orders: 'an effect comes before the commit that it has to wait for',
};

export interface Mutant {
  readonly kind: Kind;
  /** No other one of its kind has it. */
  readonly name: string;
  /** The first test of its suite that fails with this fault in place; `null`: none does, it survives. */
  killer(): Promise<string | null>;
}

export interface Verdict {
  readonly kind: Kind;
  readonly name: string;
  readonly killer: string | null;
  readonly ms: number;
}
