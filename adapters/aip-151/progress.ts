/** `metadata` is each API's own: only words that many of them use are looked for, and nothing is decided by them. */
const TEXTS = ['statusMessage', 'statusDetail', 'message', 'verb', 'state'] as const;
const SHARES = ['progressPercent', 'progressPercentage', 'percentComplete', 'percentDone'] as const;
const MAX_TEXT = 500;

/** How far the operation says it is, for a human to read; `null`: it says nothing readable. */
export function progressOf(metadata: unknown): string | null {
  if (typeof metadata !== 'object' || metadata === null) return null;
  const read = (name: string): unknown => (Object.hasOwn(metadata, name) ? Reflect.get(metadata, name) : undefined);
  const share = SHARES.map(read).find((value) => typeof value === 'number' && value >= 0 && value <= 100);
  const text = TEXTS.map(read).find((value) => typeof value === 'string' && value !== '');
  const parts = [share === undefined ? null : `${share} %`, typeof text === 'string' ? text.slice(0, MAX_TEXT) : null];
  const said = parts.filter((part) => part !== null).join(', ');
  return said === '' ? null : said;
}
