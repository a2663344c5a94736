import type { OperationLedger, OperationSummary } from '../operation-ledger.ts';

const PAGE = 500;

/** Every operation of the ledger, page by page. */
export async function* operationsOf(ledger: OperationLedger): AsyncGenerator<OperationSummary> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<OperationLedger['list']>> = await ledger.list({
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    });
    yield* page.operations;
    cursor = page.cursor;
  } while (cursor !== null);
}
