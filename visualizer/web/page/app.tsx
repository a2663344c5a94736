import { useAddress } from './address.ts';
import { Frame } from './frame.tsx';
import { ListScreen } from './list.tsx';
import { LiveOperation, OperationScreen } from './operation.tsx';
import { setup } from './setup.ts';

const about = {
  where: (
    <>
      <span class="ledger" title="The ledger">
        {setup.ledger}
      </span>
      <span class="namespace" title="The namespace">
        {setup.namespace}
      </span>
    </>
  ),
  acting: setup.actions,
};

export function App() {
  const address = useAddress();
  if (setup.fixed) {
    return (
      <Frame {...about}>
        <OperationScreen view={setup.fixed} still={true} />
      </Frame>
    );
  }
  return (
    <Frame {...about}>
      {address.screen === 'list' ? <ListScreen address={address} /> : <LiveOperation {...address} />}
    </Frame>
  );
}
