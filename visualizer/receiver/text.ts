/** Values of programs as bounded text. */

/** A copy: a part that V8 cuts out of a long text would keep all of it. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${Buffer.from(text.slice(0, most), 'utf16le').toString('utf16le')}…`;
}

export function jsonText(value: unknown, most: number): string | null {
  const text = JSON.stringify(value, null, 2);
  return text === undefined ? null : clip(text, most);
}

/** A state value in short: `a`, `a.b`, and `a.b, a.c` where both are active. */
export function stateText(value: unknown, most = 200): string {
  const leaves: string[] = [];
  const walk = (part: unknown, path: readonly string[]): void => {
    if (leaves.length > 20) return;
    if (typeof part === 'string') return void leaves.push([...path, part].join('.'));
    const inner = typeof part === 'object' && part !== null ? Object.entries(part) : [];
    if (inner.length === 0 && path.length > 0) leaves.push(path.join('.'));
    for (const [key, next] of inner) walk(next, [...path, key]);
  };
  walk(value, []);
  return clip(leaves.join(', '), most);
}
