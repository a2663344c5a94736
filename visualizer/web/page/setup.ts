import type { PageSetup } from '../../view/schema.ts';

/** What the server, or whoever wrote this file, says of the page. */
export const setup = JSON.parse(document.getElementById('setup')?.textContent ?? '{}') as PageSetup;
