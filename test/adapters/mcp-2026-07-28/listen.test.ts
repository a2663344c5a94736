import { describe, expect, it } from 'vitest';
import { connect, eventually, sleep, stage, startTask } from './helpers.ts';

describe('subscriptions/listen over HTTP (B8)', () => {
  const server = stage('http');
  const listens = async () => (await server.log()).requests.filter(({ method }) => method === 'subscriptions/listen');
  const asked = async () => (await listens()).at(-1)?.params.notifications;

  it('one subscription for all watched tasks says which one changed, and ends with the last', async () => {
    await server.control({ op: 'reset' });
    const [one, two] = [
      await startTask(server.session, { outcome: 'hold' }),
      await startTask(server.session, { outcome: 'hold' }),
    ];
    const hints: string[] = [];
    const stopOne = server.session.watch?.(one, () => hints.push('one'));
    const stopTwo = server.session.watch?.(two, () => hints.push('two'));
    await eventually(async () => (await listens()).length === 1);
    expect(await asked()).toEqual({ taskIds: [one.taskId, two.taskId] });
    await server.control({ op: 'complete', taskId: two.taskId });
    await eventually(() => hints.length === 1);
    expect(hints).toEqual(['two']);

    stopTwo?.();
    await eventually(async () => (await listens()).length === 2);
    expect(await asked()).toEqual({ taskIds: [one.taskId] });
    // What happened while nobody listened is not known: one hint for who is left.
    await eventually(() => hints.length === 2);
    expect(hints).toEqual(['two', 'one']);
    stopOne?.();
    await eventually(async () => (await server.log()).disconnects['subscriptions/listen'] === 2);
    expect(await listens()).toHaveLength(2);
  });

  it.each([true, false])('an end (graceful: %s) is followed by a new one, and by a hint', async (graceful) => {
    await server.control({ op: 'reset' });
    const task = await startTask(server.session, { outcome: 'hold' });
    let hints = 0;
    server.session.watch?.(task, () => hints++);
    await eventually(async () => (await listens()).length === 1);
    await server.control({ op: 'endListens', graceful });
    await eventually(async () => (await listens()).length === 2, 5_000);
    await eventually(() => hints === 1);
    await server.control({ op: 'complete', taskId: task.taskId });
    await eventually(() => hints === 2);
  });

  it('a server without it, and one that accepts no task, is asked once', async () => {
    const session = await connect(server.endpoint);
    const task = await startTask(session, { outcome: 'hold' });
    await server.control({ op: 'reset' });
    await server.fault({ method: 'subscriptions/listen', kind: 'rpc', code: -32601, status: 404 });
    session.watch?.(task, () => undefined);
    await eventually(async () => (await listens()).length === 1);
    const other = await connect(server.endpoint);
    other.watch?.({ ...task, taskId: 'nobody-made-this' }, () => undefined);
    await eventually(async () => (await server.log()).disconnects['subscriptions/listen'] === 1);
    // Longer than it takes to come back after an end.
    await sleep(1_500);
    expect(await listens()).toHaveLength(2);
    expect(await session.status(task)).toMatchObject({ kind: 'status' });
    await session.close();
    await other.close();
  });
});

describe('over stdio', () => {
  const server = stage('stdio');
  it('there are no hints: an end could not be told', () => {
    expect(server.session).not.toHaveProperty('watch');
  });
});
