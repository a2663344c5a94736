import { expect, it } from 'vitest';
import { mcp20251125 } from '../../../adapters/mcp-2025-11-25/index.ts';
import { freePort } from '../../kit/free-port.ts';
import { controls, stdioCommand } from '../../kit/servers/mcp-2025-11-25.ts';
import { eventually } from '../../support/rig.ts';

it('ends the server of a launcher (npx, a shell) together with it', async () => {
  const port = await freePort();
  const direct = stdioCommand({}, port);
  if (direct.kind !== 'stdio') throw new Error('a stdio endpoint is expected');
  // The shell waits for the server and does not pass a signal on, as `npx` does not.
  const endpoint = {
    kind: 'stdio' as const,
    command: 'sh',
    args: ['-c', '"$@"; exit 0', 'sh', direct.command, ...direct.args],
  };
  const session = await mcp20251125().connect(endpoint);
  expect((await session.negotiate('work', {})).kind).toBe('supported');
  expect((await controls(port).log()).counts.initialize).toBe(1);
  await session.close();
  await eventually(() =>
    controls(port)
      .log()
      .then(
        () => false,
        () => true,
      ),
  );
});
