/** Where the page is: after the `#`, so that the token in front of it stays, and going back works. */
import { useEffect, useState } from 'preact/hooks';

export interface ListAddress {
  readonly screen: 'list';
  readonly state: string;
  readonly text: string;
  readonly page: number;
}
export type Address = ListAddress | { readonly screen: 'operation'; readonly operationId: string };

export const LIST: ListAddress = { screen: 'list', state: 'all', text: '', page: 0 };

export function parseAddress(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [screen, operationId] = path.split('/');
  if (screen === 'operation' && operationId) return { screen, operationId };
  const asked = new URLSearchParams(query);
  const page = Number(asked.get('page') ?? 0);
  return {
    ...{ screen: 'list', state: asked.get('state') ?? 'all', text: asked.get('text') ?? '' },
    page: Number.isInteger(page) && page > 0 ? page : 0,
  };
}

export function hashOf(address: Address): string {
  if (address.screen === 'operation') return `#/operation/${address.operationId}`;
  const asked = new URLSearchParams();
  if (address.state !== 'all') asked.set('state', address.state);
  if (address.text !== '') asked.set('text', address.text);
  if (address.page > 0) asked.set('page', String(address.page));
  return asked.size === 0 ? '#/' : `#/?${asked}`;
}

/** `replace`: no step for the way back. */
export function goTo(address: Address, replace = false): void {
  if (replace) {
    history.replaceState(null, '', hashOf(address));
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else {
    location.hash = hashOf(address);
  }
}

export function useAddress(): Address {
  const [address, setAddress] = useState(() => parseAddress(location.hash));
  useEffect(() => {
    const changed = () => setAddress(parseAddress(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return address;
}
