import { type Environment, stampOf } from './environment.ts';

/**
 * A process that was out of touch with the ledger for too long was taken for dead, and what only it can serve was parked
 * (`server-gone`). Its servers live on: it takes those operations back. A walk over the ledger, paid only after an outage.
 */
export async function reclaimOwn(env: Environment, processId: string): Promise<void> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Environment['ledger']['list']>> = await env.ledger.list({
      limit: 200,
      ...(cursor === null ? {} : { cursor }),
    });
    for (const { operationId, state } of page.operations) {
      if (!state.startsWith('PARKED')) continue;
      const opened = await env.store.load(operationId);
      if (opened?.record.scope !== `process:${processId}`) continue;
      const { parked, taskId } = opened.snapshot.context;
      if (parked?.reason !== 'server-gone' || taskId === null) continue;
      const by = `${env.executorId}, back in touch`;
      await env.store.apply(operationId, { ...stampOf(env), type: 'reconcile.attach', taskId, foreign: false, by });
    }
    cursor = page.cursor;
  } while (cursor !== null);
}
