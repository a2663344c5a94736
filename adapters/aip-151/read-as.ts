import type { z } from 'zod';

/** The value as a schema reads it, or `null`: also where a check throws, for a value that only looks like a text. */
export function readAs<T extends z.ZodType>(schema: T, value: unknown): z.output<T> | null {
  try {
    const parsed = schema.safeParse(value);
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
