import type { ReceiverSetup } from '../../../receiver/view.ts';

/** What the server says of the page. */
export const setup = JSON.parse(document.getElementById('setup')?.textContent ?? '{}') as ReceiverSetup;
