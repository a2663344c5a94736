/** Times for people: short ones beside rows, exact ones where it matters. */
import { useEffect, useState } from 'preact/hooks';

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** `3 min`, `1 h 20 min`, `0 s`. */
export function duration(ms: number): string {
  const rest = Math.max(0, ms);
  const at = UNITS.findIndex(([size]) => rest >= size);
  if (at < 0) return '0 s';
  const [size, unit] = UNITS[at] as readonly [number, string];
  const finer = UNITS[at + 1];
  const count = Math.floor(rest / size);
  const more = finer && count < 10 ? Math.floor((rest - count * size) / finer[0]) : 0;
  return more > 0 && finer ? `${count} ${unit} ${more} ${finer[1]}` : `${count} ${unit}`;
}

/** From the beginning of an operation: `+12.3 s`. */
export function offset(ms: number): string {
  return ms < 60_000 ? `+${(ms / 1000).toFixed(1)} s` : `+${duration(ms)}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `2026-03-01 12:00:03` in the time zone of the reader. */
export function moment(at: number): string {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `12:00:03.250`, where the day is known. */
export function clock(at: number): string {
  const date = new Date(at);
  return `${moment(at).slice(-8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

export function until(at: number | null, now: number): string {
  if (at === null) return '–';
  return at <= now ? 'now' : `in ${duration(at - now)}`;
}

/** The ledger's time, going on from when something was read. `still`: a file does not grow older. */
export function useNow(readAt: number, still = false): number {
  const [now, setNow] = useState(readAt);
  useEffect(() => {
    setNow(readAt);
    if (still) return;
    const ahead = readAt - Date.now();
    const ticking = setInterval(() => setNow(Date.now() + ahead), 1_000);
    return () => clearInterval(ticking);
  }, [readAt, still]);
  return now;
}
