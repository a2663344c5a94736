/** Reading what a server declares: a value of any shape, or nothing. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function field(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
