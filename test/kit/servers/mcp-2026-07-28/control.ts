import { understood } from '../../told.ts';
import { heldTask } from '../control-port.ts';
import { Command } from './schema.ts';
import { endingOf, type World } from './world.ts';

/** Applies one command of a test, or throws what is wrong with it. */
export function applyControl(world: World, told: unknown, endListens: (graceful: boolean) => void): void {
  const command = understood(Command, told);
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
  const task = heldTask(world, command.taskId);
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
