/** Results and errors as the text that matters in them, so that what was told can be compared with what the server has. */

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Of a result of `tools/call`, or of the response of an operation (`{ text }`). */
export function resultText(value: unknown): string {
  if (!isFields(value)) return String(value);
  const content = Array.isArray(value.content) ? value.content : [];
  const words = content.flatMap((block: unknown) =>
    isFields(block) && block.type === 'text' ? [String(block.text)] : [],
  );
  if (typeof value.text === 'string') words.push(value.text);
  if (value.structuredContent !== undefined) words.push(JSON.stringify(value.structuredContent));
  return words.join(' ');
}

export function errorText(error: unknown): string {
  if (!isFields(error)) return String(error);
  const { code, message, cause } = error;
  const own = `${code === undefined ? '' : `${String(code)} `}${String(message ?? '')}`.trim();
  // Where a library wraps what went wrong, both are what the caller can read.
  return cause === undefined ? own : `${own} (${errorText(cause)})`;
}
