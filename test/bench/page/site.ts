/** The page on a ledger, in a process of its own, as `toolop web` has it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Executor, type OperationLedger } from '../../../machines/index.ts';
import { openLedger } from '../../../persistence/index.ts';
import { type OpenSite, openSite } from '../../../visualizer/web/site.ts';
import { answering, NAMESPACE } from '../answering.ts';
import { obey } from '../child.ts';

let ledger: OperationLedger;
let site: OpenSite | null = null;

const orders = {
  /** Answers where it is. */
  async open({ url }: { url: string }): Promise<string> {
    ledger = await openLedger(url, { namespace: NAMESPACE });
    const executor = new Executor({ ledger, namespace: NAMESPACE, protocols: [answering().protocol] });
    const hint = (command: string) => command;
    const what = { ledger, executor, namespace: NAMESPACE, name: 'bench', by: 'web:bench', hint };
    site = await openSite({ ...what, port: 0, allowActions: false });
    return site.url;
  },

  /** What is left after a collection, bytes. */
  async memory(_: Record<string, never>): Promise<number> {
    for (let nth = 0; nth < 3; nth++) {
      global.gc?.();
      await sleep(50);
    }
    return process.memoryUsage().heapUsed;
  },

  async close(_: Record<string, never>): Promise<void> {
    await site?.close();
    site = null;
    await ledger.close();
  },
};
export type SiteOrders = typeof orders;
obey(orders);
