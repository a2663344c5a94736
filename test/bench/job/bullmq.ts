/**
 * The same job on BullMQ by its documented patterns. Steps: "Process Step Jobs" (each step saved with `updateData`).
 * Delivery: "Returning job data, using a results queue" (the worker of a second queue leases and completes each result),
 * because the `completed` event, which is cheaper, may be lost.
 */
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { ARGUMENTS, type Contender, RESULT, type Setting, Waiting, WORKING_POLLS } from './contender.ts';

interface StepData {
  readonly name: string;
  readonly step: 'submit' | 'poll' | 'fetch';
  readonly polls: number;
  readonly taskId: string | null;
  readonly arguments: typeof ARGUMENTS;
}
interface ResultData {
  readonly name: string;
  readonly result: unknown;
}

/** `waits`: between two polls the job goes back to the queue (`moveToDelayed`); without, one worker goes on with it. */
export const bullmq =
  (waits: boolean) =>
  async (setting: Setting): Promise<Contender> => {
    const connection = { url: setting.url };
    const handled = new Map<string, () => void>();
    const acknowledged = new Waiting<void>();
    const failures: Error[] = [];
    const jobs = new Queue<StepData>('jobs', { connection });
    const results = new Queue<ResultData>('results', { connection });
    const process = async (job: Job<StepData>, token?: string): Promise<string> => {
      let data = job.data;
      const save = async (next: Partial<StepData>) => {
        data = { ...data, ...next };
        await job.updateData(data);
      };
      for (;;) {
        switch (data.step) {
          case 'submit':
            await save({ step: 'poll', taskId: `task-${data.name}` });
            break;
          case 'poll':
            if (data.polls === WORKING_POLLS) {
              await save({ step: 'fetch' });
              continue;
            }
            await save({ polls: data.polls + 1 });
            break;
          case 'fetch':
            await results.add('result', { name: data.name, result: RESULT }, { jobId: `r-${data.name}` });
            return 'completed';
        }
        if (waits) {
          await job.moveToDelayed(Date.now() + 1, token);
          throw new DelayedError();
        }
      }
    };
    const options = { connection, concurrency: setting.inFlight, removeOnComplete: { count: 1_000_000 } };
    const worker = new Worker<StepData>('jobs', process, options);
    const consumer = new Worker<ResultData>(
      'results',
      async ({ data }) => {
        handled.get(data.name)?.();
        handled.delete(data.name);
      },
      options,
    );
    consumer.on('completed', ({ data }) => acknowledged.tell(data.name, undefined));
    for (const each of [worker, consumer]) {
      each.on('error', (error) => failures.push(error));
      each.on('failed', (_, error) => failures.push(error));
    }
    await Promise.all([worker.waitUntilReady(), consumer.waitUntilReady(), jobs.waitUntilReady()]);
    return {
      async job(name, delivered) {
        const done = acknowledged.until(name);
        handled.set(name, delivered);
        const data = { name, step: 'submit', polls: 0, taskId: null, arguments: ARGUMENTS } as const;
        await jobs.add('job', data, { jobId: name });
        await done;
        if (failures[0]) throw failures[0];
      },
      async close() {
        await Promise.all([worker.close(), consumer.close()]);
        await Promise.all([jobs.close(), results.close()]);
      },
    };
  };
