/** The three ways to say where a Redis ledger is: one server, a cluster, or a primary that Sentinels name. */

export interface Place {
  readonly host: string;
  readonly port: number;
}

interface Access {
  /** `rediss`: the connections are encrypted. */
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
}

export type RedisAddress = Access &
  (
    | { readonly kind: 'single'; readonly url: string }
    /** Any of its nodes; the others are found by asking. */
    | { readonly kind: 'cluster'; readonly nodes: readonly Place[] }
    /** `master`: the name by which the Sentinels know the primary. `sentinelPassword`: of the Sentinels themselves. */
    | {
        readonly kind: 'sentinel';
        readonly sentinels: readonly Place[];
        readonly master: string;
        readonly db: number;
        readonly sentinelPassword?: string;
      }
  );

const FORM = {
  cluster: 'redis+cluster://[user:password@]host:port,host:port',
  sentinel: 'redis+sentinel://[user:password@]host:port,host:port/<name of the primary>[?db=0&sentinelPassword=...]',
} as const;
const DEFAULT_PORT = { cluster: 6379, sentinel: 26379 } as const;

export const isRedisAddress = (address: string): boolean => /^rediss?(\+cluster|\+sentinel)?:\/\//.test(address);
export const isClusterAddress = (address: string): boolean => /^rediss?\+cluster:\/\//.test(address);

/**
 * Reads a ledger's address. No message repeats user or password.
 * @throws RangeError what is wrong with it, and the form it should have
 */
export function parseRedisAddress(address: string): RedisAddress {
  const match = /^(rediss?)(?:\+(cluster|sentinel))?:\/\/(?:([^@]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s.exec(
    address,
  );
  const [, scheme, several, access, places = '', path = '', query = ''] = match ?? [];
  const tls = scheme === 'rediss';
  if (several !== 'cluster' && several !== 'sentinel') {
    if (!URL.canParse(address))
      throw new RangeError('the address of a Redis is redis://[user:password@]host:port[/db]');
    return { kind: 'single', url: address, tls };
  }
  const given = { tls, ...accessOf(access, FORM[several]) };
  const list = places.split(',').map((place) => placeOf(place, several));
  if (several === 'cluster') {
    if (path !== '' || query !== '') {
      throw new RangeError(
        `a cluster has one database and no names: the address is ${FORM.cluster}, without "/${path}"`,
      );
    }
    return { kind: 'cluster', nodes: list, ...given };
  }
  const master = decoded(path, FORM.sentinel);
  if (master === '' || master.includes('/')) {
    throw new RangeError(`the address lacks the name by which the Sentinels know the primary: ${FORM.sentinel}`);
  }
  return { kind: 'sentinel', sentinels: list, master, ...given, ...settingsOf(query) };
}

/** An address as it may be shown: without user and password. */
export function publicAddress(address: string): string {
  return address.replace(/^(rediss?(?:\+[a-z]+)?:\/\/)[^/?#]*@/, '$1').replace(/([?&]sentinelPassword=)[^&]*/, '$1…');
}

function accessOf(access: string | undefined, form: string): { username?: string; password?: string } {
  if (access === undefined || access === '') return {};
  const [user = '', ...rest] = access.split(':');
  const [username, password] = [decoded(user, form), decoded(rest.join(':'), form)];
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
}

function placeOf(place: string, several: 'cluster' | 'sentinel'): Place {
  const match = /^(?:\[([0-9a-f:.]+)\]|([A-Za-z0-9_.-]+))(?::(\d{1,5}))?$/i.exec(place);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? DEFAULT_PORT[several] : Number(match[3]);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new RangeError(`"${place}" is no host:port; the address is ${FORM[several]}`);
  }
  return { host, port };
}

function settingsOf(query: string): { db: number; sentinelPassword?: string } {
  const settings = new URLSearchParams(query);
  for (const name of settings.keys()) {
    if (name !== 'db' && name !== 'sentinelPassword') {
      throw new RangeError(`"${name}" is no setting of an address; it is ${FORM.sentinel}`);
    }
  }
  const db = settings.get('db') ?? '0';
  if (!/^\d{1,4}$/.test(db)) throw new RangeError(`db is the number of a database, not "${db}"; ${FORM.sentinel}`);
  const sentinelPassword = settings.get('sentinelPassword');
  return { db: Number(db), ...(sentinelPassword === null ? {} : { sentinelPassword }) };
}

function decoded(text: string, form: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RangeError(`a part of the address is not percent-encoded as it should be; it is ${form}`);
  }
}
