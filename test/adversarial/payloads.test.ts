import { describe, expect, it } from 'vitest';
import { accepted, until, workCall } from '../support/rig.ts';
import { useStage } from '../support/stage.ts';

let deep: unknown = 1;
for (let i = 0; i < 3_000; i++) deep = [deep];

describe('results that cannot be stored', () => {
  const stage = useStage('embedded');

  it.each([['deep nesting', { content: [{ type: 'text', text: 'a' }], structuredContent: { deep } }]])(
    '%s',
    async (name, result) => {
      const server = await stage().server({ describe: name });
      const log: string[] = [];
      const executor = await stage().rig.executor({
        log: (e) => void (e.level === 'error' && log.push(JSON.stringify(e))),
      });
      const id = await accepted(executor, workCall(server.endpoint, { outcome: 'hold' }));
      await until(executor, id, (state) => state === 'WORKING.polling');
      await server.control({
        op: 'fault',
        method: 'tasks/result',
        kind: 'answer',
        times: 100_000,
        result: result as never,
      });
      await server.control({ op: 'complete', taskId: 'last' });
      await until(executor, id, (state) => state.startsWith('PARKED'));
      expect(log).toEqual([]);
    },
  );
});
