/** The local page on an open ledger: what is read in the background, and the door to it. */
import type { Executor, OperationLedger } from '../../machines/index.ts';
import { Catalogue, type CatalogueOptions } from './catalogue.ts';
import { pageFiles } from './page-files.ts';
import { route } from './routes.ts';
import { openDoor } from './server.ts';

export interface SiteOptions {
  readonly ledger: OperationLedger;
  /** Reads, and writes commands: it need not be started, and is not by this. */
  readonly executor: Executor;
  readonly namespace: string;
  /** How the ledger is called on the page, without credentials. */
  readonly name: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly allowActions: boolean;
  /** Who asks, as it stands in the record. */
  readonly by: string;
  /** A command line of this tool that works on the same ledger. */
  readonly hint: (command: string, operationId: string, rest?: readonly string[]) => string;
  readonly catalogue?: CatalogueOptions;
}

export interface OpenSite {
  readonly url: string;
  readonly token: string;
  close(): Promise<void>;
}

export async function openSite(options: SiteOptions): Promise<OpenSite> {
  const { ledger, executor, by, hint, namespace, name } = options;
  const files = await pageFiles();
  const catalogue = new Catalogue(ledger, options.catalogue);
  const door = await openDoor(options.port, (asked) =>
    route(
      {
        ...{ files, catalogue, namespace },
        ledger: name,
        reading: { ledger, store: executor.env.store, hint },
        desk: options.allowActions ? { executor, ledger, by } : null,
      },
      asked,
    ),
  );
  catalogue.start();
  return {
    ...{ url: door.url, token: door.token },
    async close() {
      await door.close();
      await catalogue.close();
    },
  };
}
