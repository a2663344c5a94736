import type { Control } from './options.ts';
import { endingOf, type World } from './world.ts';

/** Applies one command of a test. Answers `null`, or why it could not. */
export function applyControl(world: World, value: unknown, endListens: (graceful: boolean) => void): string | null {
  try {
    apply(world, value as Control, endListens);
    return null;
  } catch (error) {
    return String(error);
  }
}

function apply(world: World, command: Control, endListens: (graceful: boolean) => void): void {
  switch (command.op) {
    case 'fault':
      world.addFault(command);
      return;
    case 'reset':
      world.reset();
      return;
    case 'clearFaults':
      world.clearFaults();
      return;
    case 'release':
      world.release();
      return;
    case 'set':
      world.options = { ...world.options, ...command.options };
      return;
    case 'endListens':
      endListens(command.graceful);
      return;
    case 'exit':
      setTimeout(() => process.exit(0), 10);
      return;
  }
  const task = world.find(command.taskId);
  switch (command.op) {
    case 'complete':
      world.finish(task, endingOf(task.tool, { ...task.script, outcome: 'complete' }));
      return;
    case 'fail': {
      const code = command.code === undefined ? {} : { code: command.code };
      world.finish(task, endingOf(task.tool, { outcome: 'rpcError', ...code }));
      return;
    }
    case 'status':
      task.status = command.status;
      world.touch(task);
      return;
    case 'statuses':
      task.lies.push(...command.statuses);
      return;
    case 'ask':
      world.ask(task, command.keys);
      return;
    case 'forget':
      world.forget(task, command.receipt === true);
      return;
    case 'expire':
      world.expire(task, command.inMs);
      return;
    case 'pace':
      task.pollIntervalMs = command.pollIntervalMs;
      world.touch(task);
      return;
    case 'reuse':
      world.reuse(task, command.createdAt ?? new Date().toISOString());
      return;
  }
}
