/** One command, and the chart's answer to it. */
import type { ActionAnswer } from '../../view/schema.ts';
import { setup } from './setup.ts';

export async function act(command: Readonly<Record<string, unknown>>): Promise<ActionAnswer> {
  const refused = (words: string): ActionAnswer => ({ kind: 'refused', words, guards: [] });
  try {
    const response = await fetch('api/act', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-toolop-token': setup.token ?? '' },
      body: JSON.stringify(command),
    });
    const answer = (await response.json()) as ActionAnswer | { readonly error: string };
    return 'error' in answer ? refused(answer.error) : answer;
  } catch {
    return refused('The server of this page does not answer; nothing is known of the command.');
  }
}
