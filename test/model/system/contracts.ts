/** The servers and networks that are explored by default, each with its bounds; together well over a million states. */
import { type Contract, HONEST } from './server.ts';
import type { Bounds } from './system.ts';

export interface Setting {
  readonly contract: Contract;
  readonly bounds: Bounds;
}

const FEW: Bounds = { crashes: 1, losses: 1, duplicates: 0, times: 1, humans: 1, lies: 0 };

const setting = (
  contract: Partial<Contract> & Pick<Contract, 'name' | 'about'>,
  bounds: Partial<Bounds> = {},
): Setting => ({
  contract: { ...HONEST, ...contract },
  bounds: { ...FEW, ...bounds },
});

export const SETTINGS: readonly Setting[] = [
  setting({ name: 'plain', about: 'MCP 2025-11-25 as it is: no look-up, a cancel that is terminal' }, { losses: 2 }),
  setting({ name: 'look-up', about: 'the look-up finds by key, or closes the key', lookup: 'closing' }),
  setting({ name: 'cooperative', about: 'a cancel is only heard', lookup: 'closing', cancel: 'cooperative' }),
  setting({ name: 'no-cancel', about: 'there is no cancel', lookup: 'closing', cancel: 'none' }),
  setting(
    {
      name: 'deduplicating',
      about: 'a repeated key meets the operation it made',
      lookup: 'closing',
      deduplicates: true,
    },
    { duplicates: 1, times: 0 },
  ),
  setting({ name: 'asking', about: 'one question on a channel, delivered once', questions: 1 }),
  setting(
    {
      name: 'asking-again',
      about: 'two questions, asked again when their channel broke',
      questions: 2,
      asksAgain: true,
    },
    { humans: 0, times: 0 },
  ),
  setting({ name: 'at-once', about: 'ignores the wish for a task and does the work', lookup: 'closing', atOnce: true }),
  setting(
    {
      name: 'forgetting',
      about: 'forgets after expiry, and shows a receipt',
      lookup: 'closing',
      forgets: 'withReceipt',
    },
    { humans: 0 },
  ),
  setting({ name: 'forgetful', about: 'forgets after expiry, wholly', forgets: 'wholly' }, { humans: 0 }),
  setting(
    { name: 'epochs', about: 'the execution epoch is raised on the way', lookup: 'closing', raisesEpoch: true },
    { times: 0 },
  ),
  setting(
    { name: 'lying', about: 'says what is not so', lookup: 'closing', lies: true },
    { lies: 1, times: 0, losses: 0 },
  ),
  setting(
    { name: 'lying-cooperative', about: 'says what is not so, of cancels too', cancel: 'cooperative', lies: true },
    { lies: 2, times: 0, losses: 0 },
  ),
  setting(
    {
      name: 'asking-by-status',
      about: 'MCP 2026-07-28: a question by key, told with the status; a cancel is only heard',
      cancel: 'cooperative',
      questions: 1,
      input: 'status',
    },
    { crashes: 0 },
  ),
  setting({
    name: 'asking-by-status-and-dying',
    about: 'the same, with executors that die',
    cancel: 'cooperative',
    questions: 1,
    input: 'status',
  }),
  setting(
    {
      name: 'asking-twice-by-status',
      about: 'the same, with two questions',
      cancel: 'cooperative',
      questions: 2,
      input: 'status',
    },
    { humans: 0, times: 0 },
  ),
  setting({
    name: 'asking-first',
    about: 'MCP 2026-07-28: asks before it makes a task',
    cancel: 'cooperative',
    input: 'status',
    asksFirst: true,
  }),
  setting(
    {
      name: 'asking-first-with-look-up',
      about: 'the same, and the look-up finds by key, or closes the key',
      lookup: 'closing',
      cancel: 'cooperative',
      input: 'status',
      asksFirst: true,
    },
    { times: 0 },
  ),
  setting({
    name: 'repeating',
    about: 'AIP-151 with AIP-155: the same call under the same key is the look-up',
    lookup: 'repeat',
    deduplicates: true,
    cancel: 'cooperative',
  }),
];
