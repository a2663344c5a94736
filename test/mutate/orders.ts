/**
 * Every place where something must be committed before something else happens, the other way round. A swap is an edit of the
 * source, made on a copy: what it replaces must be there exactly once, so that an order which moved is noticed here.
 */
import { readFileSync } from 'node:fs';
import type { SourceMutant } from './copy.ts';

type Edit = readonly [was: string, becomes: string];
interface Swap {
  /** `effect before commit`; the test that notices it says `effect once commit`. */
  readonly name: string;
  readonly file: string;
  readonly edits: readonly Edit[];
}

const EFFECTS = 'machines/actor/effects';
const SENT_CALL = `{
    tool: early.tool, arguments: early.arguments, ttlMs: early.ttlMs, submissionKey: drive.context.submissionKey,
    requestDigest: drive.context.requestDigest, principal: drive.context.principal, attempt: ATTEMPT }, {
    mayWrite: () => true, timeoutMs: drive.env.requestTimeoutMs, signal: drive.stopping, late: () => undefined }`;
const callSent = (attempt: string) => SENT_CALL.replace('ATTEMPT', attempt);
const PERMIT = '  await permit(drive, signal);\n';
const ASKED_FOR_KEY = `await (await sessionOf(drive)).lookup({
    tool: drive.context.tool.name, submissionKey: drive.context.submissionKey, attempt: drive.context.sentThroughAttempt,
    requestDigest: drive.context.requestDigest, principal: drive.context.principal }, { signal });`;

const SWAPS: readonly Swap[] = [
  {
    name: 'the caller has an id before the record is created',
    file: 'machines/actor/executor.ts',
    edits: [
      ['const created = await this.env.store.announcing(', 'const creating = this.env.store.announcing('],
      [
        '    switch (created.kind) {\n',
        `    void creating.then(({ record }) => this.#scheduler.take(record, askedAt)).catch(() => undefined);
    if (Date.now() > 0) return { kind: 'accepted', operationId, existing: false };
    const created = await creating;
    switch (created.kind) {\n`,
      ],
    ],
  },
  {
    name: 'the call is sent before the record says that it may have been',
    file: `${EFFECTS}/submit.ts`,
    edits: [
      [
        "  return [\n    {\n      event: {\n        ...stampOf(drive.env),\n        type: 'submit.begin',",
        `  const early = await storedRequest(drive);
  sentEarly.set(drive, await (await sessionOf(drive)).submit(${callSent('drive.context.attempt')}));
  return [{ event: { ...stampOf(drive.env), type: 'submit.begin',`,
      ],
      ['const outcome = await session.submit(', 'const outcome = sentEarly.get(drive) ?? await session.submit('],
      ['/** Takes the call off the queue', 'const sentEarly = new WeakMap();\n/** Takes the call off the queue'],
    ],
  },
  {
    name: 'the next attempt is sent before it is on the queue',
    file: `${EFFECTS}/submit.ts`,
    edits: [
      [
        'export const requeue: RunEffect = async (drive, issued) => [\n',
        `export const requeue: RunEffect = async (drive, issued) => {
  const early = await storedRequest(drive);
  await (await sessionOf(drive)).submit(${callSent('drive.context.attempt + 1')});
  return requeued(drive, issued);
};
const requeued = (drive, issued) => [\n`,
      ],
    ],
  },
  {
    name: 'an id is taken for ours before the ledger says whose it is',
    file: `${EFFECTS}/submit.ts`,
    edits: [
      [
        "    const foreign = outcome.kind === 'acknowledged' && (await isForeign(drive, outcome.task));\n    return told.submit(outcome, issued, stampOf(env), foreign);",
        "    if (outcome.kind === 'acknowledged') void isForeign(drive, outcome.task);\n    return told.submit(outcome, issued, stampOf(env), false);",
      ],
    ],
  },
  {
    name: 'a lost call is looked up before the record says that it is lost',
    file: `${EFFECTS}/submit.ts`,
    edits: [
      [
        '  noteSession(drive, outcome);\n',
        `  noteSession(drive, outcome);\n  if (outcome.kind === 'connectionLost') ${ASKED_FOR_KEY}\n`,
      ],
    ],
  },
  {
    name: 'an unknown id is looked up before the record says that it is unknown',
    file: `${EFFECTS}/poll.ts`,
    edits: [
      [
        '  noteSession(drive, outcome);\n',
        `  noteSession(drive, outcome);\n  if (outcome.kind === 'notFound') ${ASKED_FOR_KEY}\n`,
      ],
    ],
  },
  {
    name: 'the result is fetched before the outcome is on record',
    file: `${EFFECTS}/poll.ts`,
    edits: [
      [
        '  noteSession(drive, outcome);\n',
        `  noteSession(drive, outcome);
  if (outcome.kind === 'status' && outcome.task.status === 'completed')
    await session.result(taskRef(drive.context), 'completed', signal);\n`,
      ],
    ],
  },
  {
    name: 'the channel for questions is opened before the record says that one is announced',
    file: `${EFFECTS}/poll.ts`,
    edits: [
      [
        '  noteSession(drive, outcome);\n',
        `  noteSession(drive, outcome);
  if (outcome.kind === 'status' && outcome.task.status === 'input_required') await drive.input.open(signal);\n`,
      ],
    ],
  },
  {
    name: 'an answer is written before the ledger has it',
    file: 'machines/actor/held-input.ts',
    edits: [
      [
        '      const { operationId, schemaDigest } = round;\n',
        '      const { operationId, schemaDigest } = round;\n      await this.deliver(reply);\n',
      ],
    ],
  },
  {
    name: 'an answer is written before the record says that it may have been',
    file: `${EFFECTS}/input.ts`,
    edits: [
      [
        "  return [\n    {\n      event: { ...stampOf(drive.env), type: 'input.send',",
        `  await drive.input.deliver(await recordedReply(drive.env.ledger, drive.context));
  return [\n    {\n      event: { ...stampOf(drive.env), type: 'input.send',`,
      ],
      ['(await drive.input.deliver(reply))', 'true'],
    ],
  },
  {
    name: 'a cancel is sent before its intent is on record',
    file: 'machines/actor/executor.ts',
    edits: [
      [
        "    return this.#command(operationId, 'cancel.request', () => cancel(this.env, operationId, by, reason));",
        `    const early = async () => {
      const context = (await this.env.store.load(operationId))?.snapshot.context;
      const task = { taskId: context?.taskId, taskCreatedAt: context?.taskCreatedAt, tool: context?.tool.name };
      if (task.taskId) await (await this.env.connections.session(context)).cancel(task, AbortSignal.timeout(2_000));
      return cancel(this.env, operationId, by, reason);
    };
    return this.#command(operationId, 'cancel.request', early);`,
      ],
    ],
  },
  {
    name: 'those who follow hear of a state before it is committed',
    file: 'machines/actor/store.ts',
    edits: [
      [
        '      const committed = await this.#commit(opened, stamped, from, applied, options, over?.how);\n',
        `      const revision = String(Number(opened.record.revision) + 1);
      for (const listener of this.#committed) listener({ record: { ...opened.record, revision }, snapshot: stamped }, from);
      const committed = await this.#commit(opened, stamped, from, applied, options, over?.how);\n`,
      ],
      ['        for (const listener of this.#committed) listener(committed, from);\n', ''],
    ],
  },
  {
    name: 'a ready row is acknowledged before it was acted on',
    file: 'machines/actor/consumer.ts',
    edits: [
      [
        '    await handle(outcome);\n    if (await ledger.ackReady(row, consumer)) measureDelivery(outcome.receipt.outcome);\n',
        '    if (await ledger.ackReady(row, consumer)) measureDelivery(outcome.receipt.outcome);\n    await handle(outcome);\n',
      ],
    ],
  },
  {
    name: 'a newer epoch works on a record before the record is its own',
    file: 'machines/actor/drive.ts',
    edits: [
      [
        '      await this.#adoptEpoch();\n',
        `      const hasty = owedEffect(this.opened.snapshot);
      if (hasty === 'poll') await effects.poll(this, this.issue(), this.stopping);
      await this.#adoptEpoch();\n`,
      ],
    ],
  },
  {
    name: 'a process serves before the ledger knows that it lives',
    file: 'machines/actor/executor.ts',
    edits: [
      [
        '    const alive = await this.#scheduler.giveSignOfLife();\n    this.#started = true;\n    this.#scheduler.start(alive);\n',
        '    this.#started = true;\n    this.#scheduler.start([]);\n    await this.#scheduler.giveSignOfLife();\n',
      ],
    ],
  },
  {
    name: 'the status is asked for before the rate has a place for it',
    file: `${EFFECTS}/poll.ts`,
    edits: [
      [PERMIT, ''],
      ['  noteSession(drive, outcome);\n', `${PERMIT}  noteSession(drive, outcome);\n`],
    ],
  },
  {
    name: 'the look-up is asked for before the rate has a place for it',
    file: `${EFFECTS}/lookup.ts`,
    edits: [
      [PERMIT, ''],
      ['  noteSession(drive, outcome);\n', `${PERMIT}  noteSession(drive, outcome);\n`],
    ],
  },
  {
    name: 'the result is asked for before the rate has a place for it',
    file: `${EFFECTS}/result.ts`,
    edits: [
      [PERMIT, ''],
      ['  noteSession(drive, outcome);\n', `${PERMIT}  noteSession(drive, outcome);\n`],
    ],
  },
  {
    name: 'a cancel is asked for before the rate has a place for it',
    file: `${EFFECTS}/cancel.ts`,
    edits: [
      ["  await permit(drive, signal, 'next');\n", ''],
      ['  noteSession(drive, outcome);\n', "  await permit(drive, signal, 'next');\n  noteSession(drive, outcome);\n"],
    ],
  },
  {
    name: 'the channel for questions is asked for before the rate has a place for it',
    file: 'machines/actor/held-input.ts',
    edits: [
      ['    await permit(this.drive, signal);\n', ''],
      [
        '    this.#channel = opened;\n  }\n\n  /** The next',
        '    this.#channel = opened;\n    await permit(this.drive, signal);\n  }\n\n  /** The next',
      ],
    ],
  },
  {
    name: 'the call is asked for before the rate has a place for it',
    file: `${EFFECTS}/submit.ts`,
    edits: [
      [PERMIT, ''],
      ['  await permitInTime(drive, signal);\n', ''],
      ['  noteSession(drive, outcome);\n', '  await permitInTime(drive, signal);\n  noteSession(drive, outcome);\n'],
    ],
  },
];

export function orderMutants(): readonly SourceMutant[] {
  return SWAPS.map(({ name, file, edits }) => {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    return { name, file, text: edits.reduce((text, edit) => swapped(text, edit, name), source) };
  });
}

function swapped(text: string, [was, becomes]: Edit, name: string): string {
  const parts = text.split(was);
  if (parts.length !== 2) throw new Error(`"${name}": ${parts.length - 1} places look like ${JSON.stringify(was)}`);
  return parts.join(becomes);
}
