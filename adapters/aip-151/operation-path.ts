import type { TaskRef } from '../../machines/operation-protocol.ts';
import type { Method } from './method.ts';
import type { Settings } from './options.ts';
import { encodePath } from './path-template.ts';

/** Where an operation is asked for, by what was declared of the method that started it. */
export function operationPath(
  settings: Settings,
  task: TaskRef,
): { readonly path: string; readonly method: Method } | { readonly problem: string } {
  const method = settings.methods.get(task.tool);
  if (method === undefined) return { problem: 'the method is not declared in this process' };
  const name = encodePath(task.taskId);
  if (name === null) return { problem: "the operation's name cannot be asked for" };
  return { method, path: `${method.operationsPath}/${name}` };
}
