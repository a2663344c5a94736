import { expect } from 'vitest';
import type { RuleInput } from '../../kit/wire/rules.ts';
import { HOLD, type Play, type Scenario } from './scenario.ts';

const refused = (answer: Extract<RuleInput['action'], { kind: 'replace' }>['with'], times = 1): RuleInput => ({
  method: 'tasks/get',
  direction: 'request',
  times,
  action: { kind: 'replace', with: answer },
});

/** Refuses a poll, and looks that the next one keeps its distance. */
function refusing(rule: RuleInput, atLeastMs: number) {
  return async ({ line, until, rules, met, server }: Play): Promise<void> => {
    await until('WORKING.polling');
    await rules(rule);
    await met('replaced', 'tasks/get', 'request', rule.times ?? 1);
    const polls = async () =>
      (await line.wire.log()).lines.filter(
        ({ method, direction }) => method === 'tasks/get' && direction === 'request',
      );
    const known = (await polls()).length;
    await expect.poll(async () => (await polls()).length, { timeout: 10_000, interval: 30 }).toBeGreaterThan(known);
    const all = await polls();
    const last = all.findLastIndex(({ fate }) => fate === 'replaced');
    expect((all[last + 1]?.at ?? 0) - (all[last]?.at ?? 0)).toBeGreaterThanOrEqual(atLeastMs);
    await server({ op: 'complete', taskId: 'last' });
  };
}

const PATH = ['WORKING.polling', 'TERMINAL_OBSERVED', 'FETCHING_RESULT', 'ACCEPTED'];
const COMPLETED = { receipt: { outcome: 'completed' } } as const;
const NEVER = ['PARKED', 'CLASSIFYING_NOT_FOUND'];

/** F11: poll answered 429 / 503 (with and without Retry-After). Only the time of the next poll changes. */
export const busy: readonly Scenario[] = [
  ...([429, 503] as const).flatMap((status): Scenario[] => [
    {
      row: 'F11',
      name: `${status} without Retry-After, three times`,
      on: ['http'],
      script: HOLD,
      steps: refusing(refused({ status }, 3), 20),
      path: PATH,
      never: NEVER,
      ends: COMPLETED,
    },
    {
      row: 'F11',
      name: `${status} with Retry-After: nobody asks before`,
      on: ['http'],
      script: HOLD,
      steps: refusing(refused({ status, retryAfter: '1' }), 980),
      path: PATH,
      never: NEVER,
      ends: COMPLETED,
    },
  ]),
  {
    row: 'F11',
    name: 'an overloaded server says so in JSON-RPC, three times',
    script: HOLD,
    steps: refusing(refused({ error: { code: -32000, message: 'overloaded' } }, 3), 20),
    path: PATH,
    never: NEVER,
    ends: COMPLETED,
  },
  {
    row: 'F11',
    name: 'the poll was answered, but something between says 503',
    on: ['http'],
    script: { ms: 20 },
    rules: [
      { method: 'tasks/get', direction: 'response', times: 3, action: { kind: 'replace', with: { status: 503 } } },
    ],
    path: PATH,
    never: NEVER,
    ends: COMPLETED,
  },
];
