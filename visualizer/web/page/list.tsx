/** Every operation of the ledger, those that changed last first; the server gives out one part at a time. */
import { useEffect, useRef } from 'preact/hooks';
import type { ListView, RowView } from '../../view/schema.ts';
import { goTo, hashOf, type ListAddress } from './address.ts';
import { ConnectionSign, LiveSign } from './connection.tsx';
import { Filters, Search } from './filters.tsx';
import { useListKeys } from './list-keys.ts';
import { StateSign, wordsOf } from './state.tsx';
import { duration, moment, until, useNow } from './time.ts';
import { useStream } from './use-stream.ts';

const PAGE = 50;

export function ListScreen({ address }: { readonly address: ListAddress }) {
  const { state, text, page } = address;
  const asked = new URLSearchParams({ state, text, offset: String(page * PAGE), limit: String(PAGE) });
  const seen = useStream<ListView>(`api/list?${asked}`);
  const table = useRef<HTMLTableElement>(null);
  useListKeys(table);
  useEffect(() => {
    document.title = 'Operations – toolop';
  }, []);
  const view = seen.value;
  return (
    <>
      <div class="heading">
        <h1>Operations</h1>
        <LiveSign {...seen} />
      </div>
      <Search address={address} />
      <Filters address={address} counts={view?.counts ?? {}} />
      <ConnectionSign {...seen} trouble={seen.trouble ?? view?.trouble ?? null} />
      <p class="summary" role="status">
        {view ? summaryOf(view, address) : 'Reading the ledger …'}
      </p>
      {view && view.rows.length > 0 ? <Rows view={view} table={table} /> : null}
      {view && view.rows.length === 0 ? <Nothing view={view} address={address} /> : null}
      {view ? <Pager address={address} total={view.total} /> : null}
    </>
  );
}

const counted = (count: number): string => count.toLocaleString('en');

function summaryOf(view: ListView, { state, text }: ListAddress): string {
  const { operations, total, held, progress } = view;
  const what = (held ?? operations) === 1 ? 'operation' : 'operations';
  const found = state !== 'all' || text !== '' ? `${counted(total)} found in ` : '';
  const of = held === null || held === operations ? '' : ` of ${counted(held)}`;
  switch (progress) {
    case 'filling':
      return `${found}${counted(operations)}${of} ${what} so far, the newest first: the ledger is still being read, and the counts are partial.`;
    case 'capped':
      return `${found}${counted(operations)}${of} ${what}: those that changed longest ago are more than this page keeps.`;
    case 'complete':
      return found === '' ? `${counted(operations)} ${what}` : `${counted(total)} of ${counted(operations)} ${what}`;
  }
}

function Rows({ view, table }: { readonly view: ListView; readonly table: { current: HTMLTableElement | null } }) {
  const now = useNow(view.now);
  return (
    <table class="operations" ref={table}>
      <caption class="hidden">Operations, the one that changed last first</caption>
      <thead>
        <tr>
          <th scope="col" class="col-state">
            State
          </th>
          <th scope="col" class="col-call">
            Call node
          </th>
          <th scope="col" class="col-tool">
            Tool
          </th>
          <th scope="col" class="col-status">
            Server says
          </th>
          <th scope="col" class="col-age">
            Age
          </th>
          <th scope="col" class="col-next">
            Next
          </th>
          <th scope="col" class="col-changed">
            Changed
          </th>
        </tr>
      </thead>
      <tbody>
        {view.rows.map((row) => (
          <Row key={row.operationId} row={row} now={now} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, now }: { readonly row: RowView; readonly now: number }) {
  const { operationId } = row;
  const known = row.createdAt > 0;
  return (
    <tr>
      <td class="col-state">
        <StateSign state={row.state} />
        {row.parked === null ? null : <span class="why">{row.parked}</span>}
      </td>
      <td class="col-call">
        <a class="open" href={hashOf({ screen: 'operation', operationId })} data-operation={operationId}>
          <bdi>{row.callNodeId}</bdi>
        </a>
        <span class="id">{shortId(operationId)}</span>
        <span class="tool-narrow">
          <bdi>{row.tool}</bdi>
        </span>
        {row.problem === null ? null : <span class="why">{row.problem}</span>}
      </td>
      <td class="col-tool">
        <bdi>{row.tool}</bdi>
      </td>
      <td class="col-status">{row.serverStatus ?? '–'}</td>
      <td class="col-age">
        {known ? <time title={moment(row.createdAt)}>{duration(now - row.createdAt)}</time> : '–'}
      </td>
      <td class="col-next">{until(row.dueAt, now)}</td>
      <td class="col-changed">
        {known ? <time title={moment(row.updatedAt)}>{duration(now - row.updatedAt)} ago</time> : '–'}
      </td>
    </tr>
  );
}

export const shortId = (operationId: string): string => operationId.slice(0, operationId.indexOf('.') + 13);

function Nothing({ view, address }: { readonly view: ListView; readonly address: ListAddress }) {
  if (view.progress === 'filling') return null;
  if (view.operations === 0) {
    return (
      <div class="nothing">
        <p>There is no operation in this ledger yet.</p>
        <p>
          <code>toolop run</code> makes one; it appears here by itself.
        </p>
      </div>
    );
  }
  const state = address.state === 'all' ? '' : ` in ${wordsOf(address.state).toLowerCase()}`;
  return (
    <div class="nothing">
      <p>
        No operation{state} fits{address.text === '' ? '' : ` “${address.text}”`}.
      </p>
      <p>
        <a href="#/">Show all</a>
      </p>
    </div>
  );
}

function Pager({ address, total }: { readonly address: ListAddress; readonly total: number }) {
  const pages = Math.max(1, Math.ceil(total / PAGE));
  if (pages === 1 && address.page === 0) return null;
  const turn = (by: number) => goTo({ ...address, page: Math.min(pages - 1, Math.max(0, address.page + by)) });
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" disabled={address.page === 0} onClick={() => turn(-1)}>
        Previous
      </button>
      <span>
        Page {counted(address.page + 1)} of {counted(pages)}
      </span>
      <button type="button" disabled={address.page >= pages - 1} onClick={() => turn(1)}>
        Next
      </button>
    </nav>
  );
}
