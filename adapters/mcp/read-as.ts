import type { z } from 'zod';

/**
 * The value as a schema reads it, or `null`. A check of a length looks at the `length` of anything, also of what is no
 * text at all, and throws where that cannot be compared (`{"length":{"valueOf":1,"toString":1}}`): the same answer.
 */
export function readAs<T extends z.ZodType>(schema: T, value: unknown): z.output<T> | null {
  try {
    const parsed = schema.safeParse(value);
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
