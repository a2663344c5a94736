/** Text that may be long: it scrolls in a place of its own, also by keys. */
export function Scrolled({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys
    <section class="scrolled" tabIndex={0} aria-label={title}>
      <pre dir="auto">{text}</pre>
    </section>
  );
}
