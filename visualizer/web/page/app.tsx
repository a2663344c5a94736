import { useAddress } from './address.ts';
import { ListScreen } from './list.tsx';
import { LiveOperation, OperationScreen } from './operation.tsx';
import { setup } from './setup.ts';

export function App() {
  const address = useAddress();
  if (setup.fixed) {
    return (
      <Frame>
        <OperationScreen view={setup.fixed} still={true} />
      </Frame>
    );
  }
  return <Frame>{address.screen === 'list' ? <ListScreen address={address} /> : <LiveOperation {...address} />}</Frame>;
}

function Frame({ children }: { readonly children: preact.ComponentChildren }) {
  return (
    <>
      <button type="button" class="skip" onClick={toMain}>
        Skip to the content
      </button>
      <header class="top">
        <p class="mark">
          <a href="#/">toolop</a>
        </p>
        <p class="where">
          <span class="ledger" title="The ledger">
            {setup.ledger}
          </span>
          <span class="namespace" title="The namespace">
            {setup.namespace}
          </span>
        </p>
        <p class={setup.actions ? 'mode acting' : 'mode'}>{setup.actions ? 'Actions allowed' : 'Read-only'}</p>
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
