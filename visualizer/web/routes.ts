/** What the page asks for: itself, a part of the list, one operation, and, where that is allowed, a command. */
import { z } from 'zod';
import { toolOperation } from '../../machines/index.ts';
import { asFailure } from '../cli/failure.ts';
import { type Reading, readOperation } from '../view/read.ts';
import type { PageSetup } from '../view/schema.ts';
import { act, type Desk, MAX_ACTION_BYTES } from './actions.ts';
import type { Catalogue } from './catalogue.ts';
import { stream } from './events.ts';
import { type PageFiles, pageHtml } from './page-files.ts';
import { ListQuery } from './query.ts';
import { type Asked, readJson, refuse } from './server.ts';

/** The open operation is looked at this often, ms: an unchanged poll is announced to nobody. */
const LOOK_MS = 800;
/** As often the rows on the screen. */
const ROWS_MS = 2_000;

export interface Site {
  readonly files: PageFiles;
  readonly catalogue: Catalogue;
  readonly reading: Reading;
  /** `null`: nothing may be written. */
  readonly desk: Desk | null;
  /** As it is shown: no credentials in it. */
  readonly ledger: string;
  readonly namespace: string;
}

const OPERATION = /^p\d+\.[0-9a-f]{64}$/;

export async function route(site: Site, asked: Asked): Promise<void> {
  const { method, path, response } = asked;
  site.catalogue.makeWay();
  if (method === 'POST' && path === 'api/act') return command(site, asked);
  if (method !== 'GET') return void refuse(response, 405, 'there is nothing to send here');
  switch (path) {
    case '':
      return send(asked, 'text/html', pageHtml(site.files, setupOf(site, asked.token)));
    case 'page.js':
      return send(asked, 'text/javascript', site.files.script);
    case 'page.css':
      return send(asked, 'text/css', site.files.style);
    case 'api/list':
      return list(site, asked);
    case 'api/operation':
      return operation(site, asked);
    default:
      refuse(response, 404, 'there is nothing here');
  }
}

function setupOf(site: Site, token: string): PageSetup {
  const states = Object.keys(toolOperation.states);
  const actions = site.desk !== null;
  const { ledger, namespace } = site;
  return { ledger, namespace, actions, token: actions ? token : null, states, fixed: null };
}

function send({ response }: Asked, type: string, body: string): void {
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body);
}

function list({ catalogue, reading }: Site, { query, response }: Asked): void {
  const parsed = ListQuery.safeParse(Object.fromEntries(query));
  if (!parsed.success) return void refuse(response, 400, z.prettifyError(parsed.error));
  let shown: readonly string[] = [];
  let clock: { readonly offset: number } | null = null;
  let looked = 0;
  stream(response, {
    everyMs: ROWS_MS,
    onChange: (changed) => catalogue.onChange(changed),
    async look() {
      // The ledger's clock is not ours; how far it is away is asked once, and never waited for by the first sight.
      if (clock === null) {
        clock = { offset: 0 };
        void reading.ledger.now().then(
          (now) => {
            clock = { offset: now - Date.now() };
          },
          () => undefined,
        );
      }
      if (Date.now() - looked > ROWS_MS - 100) {
        looked = Date.now();
        catalogue.refresh(shown);
      }
      const page = catalogue.page(parsed.data, Date.now() + clock.offset);
      shown = page.rows.map(({ operationId }) => operationId);
      return page;
    },
  });
}

function operation({ reading }: Site, { query, response }: Asked): void {
  const operationId = query.get('id') ?? '';
  if (!OPERATION.test(operationId) || reading.ledger.partitionOf(operationId) === null) {
    return void refuse(response, 404, 'there is no such operation in this ledger');
  }
  stream(response, {
    everyMs: LOOK_MS,
    onChange: (changed) => reading.ledger.onChange((id) => id === operationId && changed()),
    look: async () => (await readOperation(reading, operationId)) ?? { schema: 'none', operationId },
  });
}

async function command(site: Site, asked: Asked): Promise<void> {
  const { response } = asked;
  if (site.desk === null) {
    return void refuse(response, 403, 'this page only shows: start it with --allow-actions to change something');
  }
  const body = await readJson(asked, MAX_ACTION_BYTES);
  if (response.headersSent) return;
  try {
    const answer = await act(site.desk, body);
    if (answer === null) return void refuse(response, 404, 'there is no such operation in this ledger');
    send(asked, 'application/json', JSON.stringify(answer));
  } catch (error) {
    if (error instanceof z.ZodError) return void refuse(response, 400, z.prettifyError(error));
    refuse(response, 503, asFailure(error).message);
  }
}
