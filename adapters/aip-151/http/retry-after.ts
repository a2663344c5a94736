const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

/** `Retry-After` in ms from now: seconds or an HTTP date (RFC 9110, 10.2.3); absent or unreadable: `undefined`. */
export function retryAfterMs(value: string | undefined, now: number = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}
