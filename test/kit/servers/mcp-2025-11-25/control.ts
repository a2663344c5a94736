import type { Control } from './options.ts';
import { endingOf, type Status, type World } from './world.ts';

/** Applies one command of a test. Answers `null`, or why it could not. */
export function applyControl(world: World, value: unknown, dropSessions: () => void): string | null {
  const command = value as Control;
  try {
    switch (command.op) {
      case 'fault':
        world.addFault(command);
        return null;
      case 'reset':
        world.reset();
        return null;
      case 'clearFaults':
        world.clearFaults();
        return null;
      case 'release':
        world.release();
        return null;
      case 'set':
        world.options = { ...world.options, ...command.options };
        return null;
      case 'lyingCancel':
        world.lyingCancel = command.on;
        return null;
      case 'forgetDone':
        world.forgetDone();
        return null;
      case 'dropSessions':
        dropSessions();
        return null;
      case 'exit':
        setTimeout(() => process.exit(0), 10);
        return null;
    }
    const task = world.find(command.taskId);
    switch (command.op) {
      case 'complete':
        world.finish(task, endingOf(task.tool, { ...task.script, outcome: 'complete' }));
        return null;
      case 'fail':
        world.finish(
          task,
          endingOf(task.tool, { outcome: 'rpcError', ...(command.code === undefined ? {} : { code: command.code }) }),
        );
        return null;
      case 'status':
        task.status = command.status as Status;
        world.touch(task);
        return null;
      case 'statuses':
        task.lies.push(...command.statuses);
        return null;
      case 'forget':
        world.forget(task, command.receipt === true);
        return null;
      case 'expire':
        world.expire(task, command.inMs);
        return null;
      case 'reuse':
        world.reuse(task, command.createdAt ?? new Date().toISOString());
        return null;
      case 'askAgain':
        world.askAgain(task);
        return null;
      case 'ask':
        void world.ask(task, command.message);
        return null;
    }
  } catch (error) {
    return String(error);
  }
}
