import type { ComponentChildren } from 'preact';

interface FrameProps {
  /** What is looked at. */
  readonly where: ComponentChildren;
  readonly acting: boolean;
  readonly children: ComponentChildren;
}

/** What is around every screen. */
export function Frame({ where, acting, children }: FrameProps) {
  return (
    <>
      <button type="button" class="skip" onClick={toMain}>
        Skip to the content
      </button>
      <header class="top">
        <p class="mark">
          <a href="#/">toolop</a>
        </p>
        <p class="where">{where}</p>
        <p class={acting ? 'mode acting' : 'mode'}>{acting ? 'Actions allowed' : 'Read-only'}</p>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

/** No link: the part behind the `#` is the address of a screen. */
function toMain(): void {
  document.getElementById('main')?.focus();
}
