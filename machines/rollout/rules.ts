/**
 * Rollout rules (R1, R2): which calls become operations. Data in every partition of the ledger, read by every executor at
 * first contact with a call. Pure.
 */
import { z } from 'zod';
import { sha256 } from '../digest.ts';
import { LedgerIncompatible, type Side } from '../operation-ledger.ts';

/** What a rule says: `off`: the ordinary way. `on`: operations. `percent`: so many of a hundred call nodes are operations. */
const Mode = z.union([z.enum(['off', 'on']), z.strictObject({ percent: z.number().min(0).max(100) })]);
/**
 * `shadow`: the ordinary way, and an operation beside it that is compared and advances nothing (R1). Only for a tool, and only
 * where the operator declares here that it has no effects outside: a server's own hint is not asked.
 */
const ToolMode = z.union([Mode, z.literal('shadow')]);

/** One rule for one target. `shadow` only for a tool, and only with `effectFree` (R1). */
export const RolloutRule = z.discriminatedUnion('of', [
  z.strictObject({ of: z.literal('default'), mode: Mode }),
  z.strictObject({ of: z.literal('adapter'), name: z.string().min(1).max(64), mode: Mode }),
  z
    .strictObject({
      of: z.literal('tool'),
      name: z.string().min(1).max(512),
      mode: ToolMode,
      /** The operator's word that the tool changes nothing outside. */
      effectFree: z.literal(true).optional(),
    })
    .refine(({ mode, effectFree }) => mode !== 'shadow' || effectFree === true, {
      error: 'a shadow sends a second call, so its tool has to be declared free of effects by the same rule (R1)',
    }),
]);
/** What the schema of this name gives. */
export type RolloutRule = z.infer<typeof RolloutRule>;
export type RolloutMode = z.infer<typeof ToolMode>;

const MAX_RULES = 500;
export const RolloutRules = z.strictObject({
  schema: z.literal('rollout.v1'),
  rules: z
    .array(RolloutRule)
    .max(MAX_RULES, { error: `there are more than ${MAX_RULES} rules` })
    .refine((rules) => new Set(rules.map(targetOf)).size === rules.length, { error: 'one target has two rules' }),
});
export type RolloutRules = z.infer<typeof RolloutRules>;

export const NO_RULES: RolloutRules = { schema: 'rollout.v1', rules: [] };

/** What a rule is about; there is at most one rule for each. */
export function targetOf(rule: { readonly of: RolloutRule['of']; readonly name?: string }): string {
  return rule.name === undefined ? rule.of : `${rule.of} ${rule.name}`;
}

/** `5%`, `on`, `off`, `shadow`. */
export function modeText(mode: RolloutMode): string {
  return typeof mode === 'string' ? mode : `${mode.percent}%`;
}

/** Throws `LedgerIncompatible` for rules that are none: nothing is decided by them. */
export function readRules(text: string): RolloutRules {
  if (text === '') return NO_RULES;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw unreadable('they are no JSON');
  }
  const parsed = RolloutRules.safeParse(json);
  if (!parsed.success) throw unreadable(parsed.error.issues.map(({ message }) => message).join('; '));
  return parsed.data;
}

const unreadable = (why: string): LedgerIncompatible =>
  new LedgerIncompatible(
    `the rollout rules of this ledger cannot be read: ${why.slice(0, 300)}; nothing was sent. Take them back as a whole (toolop rollout clear --all) and set them anew`,
  );

/** The rule of a call: the one of its tool, else the one of its adapter, else the default, else none. */
export function ruleOf({ rules }: RolloutRules, call: { readonly tool: string; readonly adapter: string }) {
  const find = (target: string) => rules.find((rule) => targetOf(rule) === target);
  return find(`tool ${call.tool}`) ?? find(`adapter ${call.adapter}`) ?? find('default') ?? null;
}

/**
 * The side of a call node under a rule: a function of both alone, so that every executor decides alike (R2). Raising a percentage
 * adds call nodes and takes none away.
 */
export function sideUnder({ mode }: Pick<RolloutRule, 'mode'>, operationId: string): Side {
  switch (mode) {
    case 'on':
      return 'operation';
    case 'off':
      return 'ordinary';
    case 'shadow':
      return 'shadow';
    default:
      return shareOf(operationId) < mode.percent ? 'operation' : 'ordinary';
  }
}

/** Where an operation stands among all, from 0 (included) to 100 (excluded). Other digits than those of its partition. */
function shareOf(operationId: string): number {
  return (Number.parseInt(sha256(`rollout ${operationId}`).slice(0, 12), 16) / 2 ** 48) * 100;
}
