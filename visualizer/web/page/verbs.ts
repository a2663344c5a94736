/** The commands of the page besides answering: what each asks for, and what it promises. */

type Given = Readonly<Record<string, string>>;

export interface VerbForm {
  readonly verb: 'cancel' | 'attach' | 'accept' | 'never-created' | 'give-up';
  readonly title: string;
  readonly confirm: string;
  /** What it does and does not guarantee. */
  readonly does: readonly string[];
  readonly inputs: readonly {
    readonly name: string;
    readonly label: string;
    readonly kind: 'line' | 'long' | 'status';
    readonly required: boolean;
  }[];
  /** What is sent besides the verb and the operation. */
  readonly commandOf: (given: Given) => Readonly<Record<string, unknown>> | { readonly problem: string };
}

const NOTE = { name: 'note', label: 'What the verdict rests on', kind: 'line', required: true } as const;
const justNote = ({ note }: Given) => ({ note });

export const VERBS: readonly VerbForm[] = [
  {
    verb: 'cancel',
    title: 'Cancel',
    confirm: 'Ask for the cancel',
    does: [
      'A cancel is a request. It is recorded first; then the process that serves the operation sends it.',
      'What the server confirms as cancelled is never accepted as a success later. What completed first is accepted as completed.',
      'It does not undo what the tool has done outside: where that may be, the receipt says that somebody has to look.',
    ],
    inputs: [{ name: 'reason', label: 'Why, for the record (optional)', kind: 'line', required: false }],
    commandOf: ({ reason }) => ({ reason: reason || null }),
  },
  {
    verb: 'attach',
    title: 'Attach a task',
    confirm: 'Attach this task',
    does: [
      'Names the task that this call made at its server. The operation goes on with it: it is asked for, and its own answer decides.',
      'A task that belongs to another operation of this ledger is refused. Whether it is the right one, nobody but you can tell.',
    ],
    inputs: [{ name: 'taskId', label: 'Task id', kind: 'line', required: true }],
    commandOf: ({ taskId }) => ({ taskId }),
  },
  {
    verb: 'accept',
    title: 'Accept an outcome',
    confirm: 'Accept this outcome',
    does: [
      'Closes the operation with the outcome that you name, on your word: the receipt holds your note as its evidence.',
      'It is the one receipt of this call, for ever. Nothing is asked of the server, and evidence that comes later changes nothing.',
    ],
    inputs: [
      { name: 'status', label: 'How it ended', kind: 'status', required: true },
      {
        name: 'payload',
        label: 'What the call returned, as JSON (empty: what is on record already)',
        kind: 'long',
        required: false,
      },
      NOTE,
    ],
    commandOf: ({ status, payload = '', note }) => {
      if (payload.trim() === '') return { status, note, payload: null };
      try {
        return { status, note, payload: JSON.parse(payload) };
      } catch {
        return { problem: 'what the call returned is not JSON' };
      }
    },
  },
  {
    verb: 'never-created',
    title: 'Declare never created',
    confirm: 'Declare it never created',
    does: [
      'States that the call made nothing at its server. The call may then be sent again, or ends as not submitted.',
      'If that is wrong, a second operation may be made beside the first. Nothing here can check it.',
    ],
    inputs: [NOTE],
    commandOf: justNote,
  },
  {
    verb: 'give-up',
    title: 'Give up',
    confirm: 'Give it up',
    does: [
      'Closes the operation with its outcome unknown. The call node gets a receipt that says so, and no success.',
      'The server is told nothing: what runs there goes on, and may still have its effects.',
    ],
    inputs: [NOTE],
    commandOf: justNote,
  },
];
