/** An empty result, `complete` where it says so itself. Anything that is known to be something else is not taken for it. */
export function isAcknowledgement({ resultType }: Readonly<Record<string, unknown>>): boolean {
  return resultType === undefined || resultType === 'complete';
}
